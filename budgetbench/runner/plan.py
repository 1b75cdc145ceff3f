"""Which runs an experiment consists of, and the key by which a finished one is known again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from budgetbench.errors import RequestError
from budgetbench.experiment import Experiment

#: Trials that one experiment may have: all their keys are made, and written down, before the first begins.
MOST_TRIALS = 100_000

#: From a run to what names the content of its dataset.
Identity = Callable[[int], str]


@dataclass(frozen=True)
class Trial:
    """One learner with one parameter set in one run."""

    algorithm: str
    params: dict[str, Any]
    run: int
    key: str


def plan(experiment: Experiment, identity: Identity) -> list[Trial]:
    """All trials of an experiment, run by run.

    Parameters
    ----------
    identity : names the content of the dataset in a run.

    Raises
    ------
    RequestError
        For more trials than `MOST_TRIALS`, before any is made.
    """
    n = experiment.n_trials
    if n > MOST_TRIALS:
        sets = n // experiment.permutations
        message = f"{experiment.name}: found {n} trials, {sets} parameter sets in {experiment.permutations} runs"
        fewer = f"at most {max(1, MOST_TRIALS // sets)} permutations, or fewer parameter sets"
        raise RequestError(f"{message}; accepted: at most {MOST_TRIALS} trials. Ask for {fewer}.")
    return [trial for run in range(experiment.permutations) for trial in trials_of_run(experiment, identity, run)]


def trials_of_run(experiment: Experiment, identity: Identity, run: int) -> Iterator[Trial]:
    """The trials of one run."""
    for algorithm, params in experiment.parameter_sets:
        yield Trial(algorithm.name, dict(params), run, experiment.key(identity(run), algorithm, params, run))


def to_do(experiment: Experiment, identity: Identity, finished: Mapping[str, Mapping[str, Any]]) -> Counter[str]:
    """Of each algorithm how many trials are not among the finished ones.

    Trials are made of those runs alone of which something is recorded; the others, which may be millions, are counted.

    Parameters
    ----------
    finished : records by key.
    """
    left: Counter[str] = Counter()
    for algorithm in experiment.algorithms:
        left[algorithm.name] += len(algorithm.trials) * experiment.permutations
    told = (record.get("run") for record in finished.values())
    for run in {run for run in told if isinstance(run, int) and 0 <= run < experiment.permutations}:
        left.subtract(trial.algorithm for trial in trials_of_run(experiment, identity, run) if trial.key in finished)
    return +left
