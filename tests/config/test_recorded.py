"""Experiments that another version of the program wrote down."""

from __future__ import annotations

from pathlib import Path

import pytest

from budgetbench.config import load, recorded
from budgetbench.errors import Notice, RequestError

KNOWN = """\
name: mine
reproduces: {paper: weston2005, item: Figure 10}
dataset: {name: drawn, train_size: 10, test_size: 5}
kernel: {name: rbf, gamma: 0.5}
permutations: 2
algorithms:
- {name: small, budget: [5, 9]}
- {name: plain}
"""


@pytest.fixture
def write(tmp_path: Path) -> Path:
    return tmp_path / "experiment.yaml"


def test_what_this_version_accepts_is_what_a_configuration_says(write: Path) -> None:
    write.write_text(KNOWN)
    assert recorded(write) == load(write)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: drawn", "name: gone"),
        ("name: drawn", "name: drawn, fold: 3"),
        ("{name: rbf, gamma: 0.5}", "{name: cosine, gamma: 0.5}"),
        ("permutations: 2", "permutations: 2\nshards: 4"),
        ("{name: plain}", "{name: gone, budget: [3, 4]}"),
        ("budget: [5, 9]", "budget: [5, 9], age: old"),
        ("budget: [5, 9]", "budget: [5, 0]"),
    ],
)
def test_what_it_does_not_know_is_taken_as_it_stands(write: Path, old: str, new: str) -> None:
    write.write_text(KNOWN)
    known = recorded(write)
    write.write_text(KNOWN.replace(old, new))
    with pytest.raises(RequestError):
        load(write)
    found = recorded(write)
    assert (found.name, found.permutations, found.reproduces) == ("mine", 2, known.reproduces)
    assert found.dataset.name == ("gone" if "gone" in new and "drawn" in old else "drawn")
    assert found.kernel.name == ("cosine" if "cosine" in new else "rbf")
    if "budget" not in new:
        assert [entry.trials for entry in found.algorithms] == [entry.trials for entry in known.algorithms]
    else:
        budgets = [params.get("budget") for _, params in found.parameter_sets]
        assert budgets == {"{name: plain}": [5, 9, 3, 4]}.get(old, [5, 0 if "0]" in new else 9, None])


def test_figures_and_tables_that_it_does_not_know_are_left_out(write: Path) -> None:
    write.write_text(KNOWN + "plots: [{kind: fashion}, {kind: error_vs_support}]\ntable: {layout: gone}\n")
    with pytest.warns(Notice) as noticed:
        found = recorded(write)
    assert [str(notice.message).partition(" accepted")[0] for notice in noticed] == [
        "mine: experiment.yaml:9: plots[0].kind: found 'fashion';",
        "mine: experiment.yaml:10: table.layout: found 'gone';",
    ]
    assert found.plots is not None
    assert [plot["kind"] for plot in found.plots] == ["error_vs_support"]
    assert found.table is None
