"""What the committed results say, as values that the templates of the pages ask for.

A page never repeats a number: it asks for the learner's line in `summary.csv`, or for the verdict in `verdicts.csv`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"


#: As the page of verdicts calls them.
STATES = ("holds", "explained", "fails", "undecided", "not run")


class FactError(Exception):
    """A page asks for what the results do not hold."""


@dataclass(frozen=True)
class Learner:
    """One learner with one set of parameters: its line in the summary, errors in per cent.

    A parameter is an attribute of the same name (`learner.budget`, whatever the learner calls its size); so is a
    measure, for its mean over the runs (`learner.test_error`), with `_std`, `_min` and `_max` for the others.
    """

    row: Mapping[Any, Any]
    params: Mapping[str, Any]

    @property
    def runs(self) -> int:
        return int(self.row["runs"])

    def __getattr__(self, name: str) -> Any:
        if name in self.params:
            return self.params[name]
        column = name if name.endswith(("_std", "_min", "_max")) else f"{name}_mean"
        if column not in self.row:
            raise AttributeError(f"{self.row['algorithm']} has neither a parameter nor a measure {name}")
        return self.row[column] * (100 if "_error_" in column else 1)


@dataclass(frozen=True)
class Experiment:
    """What one folder of results holds."""

    name: str
    rows: tuple[Learner, ...]

    @property
    def runs(self) -> int:
        """The runs of each learner, which must be one number."""
        found = {learner.runs for learner in self.rows}
        if len(found) > 1:
            raise FactError(f"{self.name}: learners have {sorted(found)} runs, not one number")
        return found.pop()

    @property
    def seconds(self) -> float:
        """What all runs took to learn and to predict, the sum over learners."""
        parts = (learner.row[f"{part}_seconds_mean"] * learner.runs for learner in self.rows for part in TIMES)
        return float(sum(part for part in parts if part == part))  # no prediction, no time: NaN

    @property
    def config(self) -> dict[str, Any]:
        """What was run, with every default."""
        return yaml.safe_load((RESULTS / self.name / "experiment.yaml").read_text(encoding="utf-8"))

    @property
    def packages(self) -> dict[str, str]:
        """The versions that it was run with."""
        return dict(json.loads((RESULTS / self.name / "provenance.json").read_text(encoding="utf-8"))["packages"])

    def tried(self, algorithm: str, **params: Any) -> list[Learner]:
        """As `learners`, with those among which the shown one was chosen."""
        return [one for one in self.rows if _is(one, algorithm, params)]

    def learners(self, algorithm: str, **params: Any) -> list[Learner]:
        """Those that the table shows, with these parameters, in its order; a list of values means any of them."""
        return [one for one in self.tried(algorithm, **params) if one.row["selected"]]

    def learner(self, algorithm: str, **params: Any) -> Learner:
        """The only one with these parameters."""
        found = self.learners(algorithm, **params)
        if len(found) != 1:
            raise FactError(f"{self.name}: {len(found)} lines of {algorithm} with {params or 'anything'}, not one")
        return found[0]


TIMES = ("train", "predict")


def _is(learner: Learner, algorithm: str, params: Mapping[str, Any]) -> bool:
    def fits(name: str, wanted: Any) -> bool:
        found = learner.params.get(name)
        return any(found is not pd.NA and found == one for one in (wanted if isinstance(wanted, list) else [wanted]))

    return learner.row["algorithm"] == algorithm and all(fits(name, wanted) for name, wanted in params.items())


@cache
def experiment(name: str) -> Experiment:
    """The experiment whose folder in `results` has this name."""
    path = RESULTS / name / "summary.csv"
    if not path.is_file():
        raise FactError(f"no results of {name}: looked for {path.relative_to(ROOT)}; run its configuration")
    rows = pd.read_csv(path, dtype={"budget": "Int64"}).to_dict("records")
    return Experiment(name, tuple(Learner(row, _params(row)) for row in rows))


def has(name: str) -> bool:
    """Whether there are results of this experiment: a reading says what it found once it was run."""
    return (RESULTS / name / "summary.csv").is_file()


def _params(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row's parameters, those of a kernel that was varied among them, and the size by the name of all learners."""
    own = {name.removeprefix("kernel."): value for name, value in json.loads(row["params"]).items()}
    return own | {"budget": row["budget"]}


@dataclass(frozen=True)
class Verdict:
    """A line of `verdicts.csv`; the words in it are those of the page of verdicts."""

    id: str
    paper: str
    item: str
    kind: str
    experiments: str
    text: str
    quote: str
    published: str
    ours: str
    difference: str
    compared: str
    runs: str
    basis: str
    state: str
    corrected: str
    explanation: str
    note: str
    over_test_sets: str = ""

    @property
    def why(self) -> str:
        """The explanation without the sentence on how far it reaches, which differs between experiments."""
        return self.explanation.partition(" This explains ")[0]

    @property
    def claim(self) -> str:
        """Its id without the experiment: the same for all experiments that it is checked on."""
        return self.id.rpartition(".")[0] if self.kind == "claim" else self.id

    @property
    def experiment(self) -> str:
        return self.id.rpartition(".")[2] if self.kind == "claim" else self.experiments.split(" ")[0]


@cache
def _verdicts() -> tuple[Verdict, ...]:
    lines = pd.read_csv(RESULTS / "verdicts.csv", dtype=str, keep_default_na=False)
    told = [name for name in Verdict.__dataclass_fields__ if name in lines]
    return tuple(Verdict(**line) for line in lines[told].to_dict("records"))


def verdicts(**having: str) -> list[Verdict]:
    """Those with these values, such as `paper="weston2005", basis="measured"`, in the order of the page of verdicts."""
    return [one for one in _verdicts() if all(getattr(one, name) == value for name, value in having.items())]


def verdict(id: str) -> Verdict:
    """The one with this id."""
    found = verdicts(id=id)
    if len(found) != 1:
        raise FactError(f"results/verdicts.csv: {len(found)} verdicts {id}, not one")
    return found[0]


def claims(**having: str) -> list[list[Verdict]]:
    """The claims among these verdicts, in their order, each with the experiments on which it came out so."""
    found: dict[str, list[Verdict]] = {}
    for one in verdicts(kind="claim", **having):
        found.setdefault(one.claim, []).append(one)
    return list(found.values())


def states(*ids: str) -> list[str]:
    """How these came out, each way once; an id without experiment stands for all of its experiments."""
    return list(dict.fromkeys(one.state for id in ids for one in under(id)))


def under(id: str) -> list[Verdict]:
    """The verdicts of a claim on all of its experiments, or the one with this id."""
    found = [one for one in _verdicts() if id in (one.id, one.claim)]
    if not found:
        raise FactError(f"results/verdicts.csv: no verdict {id}")
    return found


@cache
def papers() -> dict[str, dict[str, Any]]:
    """What `budgetbench/published` says of each paper, by its key, the oldest first; `by` is who wrote it."""
    files = sorted((ROOT / "budgetbench" / "published").glob("*.yaml"))
    found = {file.stem: yaml.safe_load(file.read_text(encoding="utf-8"))["paper"] for file in files}
    for paper in found.values():
        paper["by"] = ", ".join(author.split()[-1] for author in paper["authors"])
    return dict(sorted(found.items(), key=lambda entry: int(entry[1]["year"])))


def above(some: list[Learner], others: list[Learner] | Learner, measure: str = "test_error") -> list[int]:
    """The sizes at which the first have the higher mean than the others of that size, or than the one of any size."""
    beside = {one.budget: one for one in others} if isinstance(others, list) else {one.budget: others for one in some}
    shared = [one for one in some if one.budget in beside]
    if not shared:
        raise FactError("nothing to compare: the learners share no size")
    return [one.budget for one in shared if getattr(one, measure) > getattr(beside[one.budget], measure)]
