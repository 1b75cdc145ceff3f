"""How a benchmark is measured, what is written of it, and how its counts are compared with those that were accepted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import counting
import pytest
from floors import fastest, memory_of
from measuring import Counts, Measure, differences, record

counting.count_products("budgetbench")  # before any of its modules is imported

ROOT = Path(__file__).parents[1]
ACCEPTED = Path(__file__).with_name("counts.json")
ACCEPT = "make bench-counts ACCEPT=1"
ROUNDS = 7


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept-counts", action="store_true", help=f"Write the counts of now to {ACCEPTED.name}.")


@pytest.fixture
def measure(benchmark: Any, request: pytest.FixtureRequest) -> Iterator[Measure]:
    from budgetbench.lazy import one_thread

    def measured(
        name: str,
        work: Callable[[], Any],
        floor: Callable[[Any], float] | None = None,
        decided: Callable[[Any], dict[str, int]] = lambda _: {},
        twin: tuple[Callable[[], Any], Callable[[], Any]] | None = None,
    ) -> None:
        work()  # compiles its loops
        with counting.counting() as computed:
            outcome, memory = memory_of(work)
        counts = decided(outcome) | vars(computed)
        if not benchmark.enabled:
            benchmark.pedantic(lambda: None)
            request.getfixturevalue("compare")(name, counts)
            return
        floors: list[float] = []
        benchmark.pedantic(work, setup=lambda: floors.append(floor(outcome)) if floor else None, rounds=ROUNDS)
        told = {"floor": median(floors) if floor else None, "twin": None, "megabytes": memory and memory / 1e6}
        if twin is not None:
            plain, ours = twin
            plain(), ours()
            told["twin"] = median(fastest(plain, 1) / fastest(ours) for _ in range(3))
        benchmark.extra_info.update(told, name=name, counts=counts)

    with one_thread():
        yield measured


@pytest.fixture(scope="session")
def compare(request: pytest.FixtureRequest) -> Iterator[Callable[[str, Counts], None]]:
    """Fails where the counts of a benchmark are not those that were accepted, or takes them for right."""
    fresh: dict[str, Counts] = {}
    if request.config.getoption("--accept-counts"):
        yield fresh.__setitem__
        ACCEPTED.write_text(json.dumps(fresh, indent=1) + "\n")
        return
    accepted = json.loads(ACCEPTED.read_text())

    def compared(name: str, counts: Counts) -> None:
        changes = differences(name, accepted.get(name, {}), counts)
        if changes:
            pytest.fail("\n".join([*changes, f"If that is meant: {ACCEPT}"]), pytrace=False)

    yield compared


@pytest.fixture(scope="session")
def published(request: pytest.FixtureRequest) -> Callable[[str], Any]:
    """Experiment, learning problem and first stream of a config, where its data is at hand; not in the short form."""
    if request.config.getoption("benchmark_disable"):
        pytest.skip("counts are made of generated data alone")

    @cache
    def found(config: str) -> Any:
        from budgetbench.config import load
        from budgetbench.datasets import Cache
        from budgetbench.errors import BudgetbenchError
        from budgetbench.streams import load_problem, stream_of

        experiment = load(ROOT / "configs" / f"{config}.yaml", permutations=1)
        cache = Cache(os.environ.get("BUDGETBENCH_DATA", "data"), os.environ.get("BUDGETBENCH_MIRROR"), quiet=True)
        try:
            problem, _ = load_problem(experiment, cache)
        except BudgetbenchError as error:
            pytest.skip(f"no data: {error}")
        return experiment, problem, stream_of(problem, experiment, 0)

    return found


def pytest_benchmark_generate_json(benchmarks: Any) -> dict[str, Any]:
    return record(benchmarks)
