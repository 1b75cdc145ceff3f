"""From the results of several experiments to comparisons of their learners, one for each memory size."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd

from budgetbench.comparison.choosing import CRITERIA, Unchosen, candidates, choose
from budgetbench.comparison.ranks import Friedman, alike, average_ranks, enough, friedman, pairs
from budgetbench.errors import Notice, RequestError
from budgetbench.results import Results
from budgetbench.results.names import canonical_json

UNITS = ((1_000_000, "MB"), (1000, "kB"), (1, "B"))


@dataclass(frozen=True)
class Memory:
    """How much a model may take.

    Attributes
    ----------
    amount : bytes; or examples of the dataset, each with its coefficients, for which there is to be room: as many bytes
        on each dataset as these take there.
    """

    amount: int
    examples: bool = False

    def nbytes(self, results: Results) -> int:
        """In bytes.

        Raises
        ------
        RequestError : what an example takes was not recorded.
        """
        if not self.examples:
            return self.amount
        if results.example_bytes is None:
            name = results.experiment.name
            raise RequestError(
                f"{name}: what an example takes was not recorded; give --memory in bytes, or run it again"
            )
        return self.amount * results.example_bytes

    @property
    def words(self) -> str:
        """Which models fit."""
        if self.examples:
            return f"models that take no more than {self.amount} examples"
        number, unit = next((self.amount / size, unit) for size, unit in UNITS if self.amount >= size)
        return f"models of at most {number:g} {unit}"

    @property
    def text(self) -> str:
        """In a column of numbers: ``20000``, ``80 examples``."""
        return f"{self.amount} examples" if self.examples else str(self.amount)


#: Bytes that are tried where nothing is asked for: 1, 4, 16, … kB.
SMALLEST, STEP = 1000, 4

#: Why a learner has no result.
TOO_LARGE, NO_CRITERION = "no model so small", "nothing recorded that may choose its parameters"

COLUMNS = (
    "memory", "experiment", "dataset", "learner", "algorithm", "params", "model_bytes", "chosen_by", "runs",
    "mean", "std",
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """Learners that have a model that fits into a memory on every dataset.

    Attributes
    ----------
    chosen : a row for each learner and experiment, with the columns `COLUMNS` and `rank`.
    ranks : their average ranks, the best first.
    friedman : None for two learners.
    pairs : see `ranks.pairs`.
    left_out : learners that have no model so small somewhere, or several with nothing to choose by: why, in words.
    """

    memory: Memory
    chosen: pd.DataFrame
    ranks: pd.Series[float]
    friedman: Friedman | None
    pairs: pd.DataFrame
    left_out: dict[str, str]

    @property
    def datasets(self) -> int:
        return self.chosen["experiment"].nunique()

    @property
    def needed(self) -> int:
        """With fewer datasets no two of the learners can differ significantly."""
        return enough(len(self.ranks))

    @property
    def groups(self) -> list[list[str]]:
        """Learners that the tests cannot tell apart; none where the tests cannot tell anything."""
        return alike(self.ranks, self.pairs) if self.datasets >= self.needed else []


@dataclass(frozen=True)
class Report:
    """All comparisons by one measure, in the order of their memory sizes."""

    measure: str
    experiments: list[str]
    comparisons: list[Comparison]


def compare(
    results: Sequence[Results], measure: str, memory: Sequence[Memory] = (), criteria: Sequence[str] = CRITERIA
) -> Report:
    """Compare the learners of several experiments, each a dataset.

    Parameters
    ----------
    measure : an error, of which lower is better.
    memory : how much a model may take; where nothing is said 1, 4, 16, … kB, as far as they make a difference.
    criteria : what may choose parameters, in order of preference.

    Raises
    ------
    RequestError : fewer than two experiments, or learners with results on all of them.
    """
    rows = {one.experiment.name: (one, candidates(one, measure)) for one in results}
    for name in [name for name, (_, own) in rows.items() if own.empty]:
        said = f"{name} is left out: no finished run has {measure} and model_bytes, which older versions did not record"
        warnings.warn(said, Notice, stacklevel=2)
        del rows[name]
    if len(rows) < 2:
        have = f"found {len(rows)} with {measure} and model_bytes"
        raise RequestError(f"compare needs two experiments or more, each on a dataset of its own; {have}")
    _warn_of_repeats([one for one, _ in rows.values()])
    largest = max(float(own["model_bytes_mean"].max()) for _, own in rows.values())
    compared = {size: _at(size, rows, measure, criteria) for size in memory or _ladder(largest)}
    found = [one for one in compared.values() if one]
    if not found:
        raise RequestError(_nothing(rows, memory))
    if not memory:
        found = [one for before, one in zip([None, *found], found, strict=False) if not (before and _same(before, one))]
    for size in memory:
        if not compared[size]:
            said = f"{size.words} are left out: fewer than two learners have one on every dataset"
            warnings.warn(said, Notice, stacklevel=2)
    return Report(measure, list(rows), found)


def _ladder(largest: float) -> list[Memory]:
    sizes = [SMALLEST]
    while sizes[-1] < largest:
        sizes.append(STEP * sizes[-1])
    return list(map(Memory, sizes))


Rows = dict[str, tuple[Results, pd.DataFrame]]


#: Of each learner that lacks something: why, and on which experiments.
Missing = dict[str, dict[str, list[str]]]


def _at(memory: Memory, rows: Rows, measure: str, criteria: Sequence[str]) -> Comparison | None:
    """The comparison at one size; None where fewer than two learners have a model so small on every dataset."""
    found, missing = _choices(memory, rows, measure, criteria)
    chosen = found[~found["learner"].isin(list(missing))].reset_index(drop=True)
    if chosen["learner"].nunique() < 2:
        return None
    values = chosen.pivot(index="experiment", columns="learner", values="mean")
    values = values.loc[list(rows), list(dict.fromkeys(chosen["learner"]))]
    chosen["rank"] = chosen.groupby("experiment", sort=False)["mean"].rank()
    left_out = {name: "; ".join(_where(*each, len(rows)) for each in why.items()) for name, why in missing.items()}
    return Comparison(memory, chosen, average_ranks(values), friedman(values), pairs(values), left_out)


def _choices(memory: Memory, rows: Rows, measure: str, criteria: Sequence[str]) -> tuple[pd.DataFrame, Missing]:
    """What stands for each learner on each dataset, with the columns `COLUMNS`, and what is missing."""
    chosen: list[tuple[Any, ...]] = []
    missing: Missing = {}
    learners = list(dict.fromkeys(name for _, own in rows.values() for name in own["learner"]))
    for (experiment, (results, own)), learner in product(rows.items(), learners):
        try:
            choice, reason = choose(own[own["learner"] == learner], memory.nbytes(results), criteria), TOO_LARGE
        except Unchosen:
            choice, reason = None, NO_CRITERION
        if choice is None:
            missing.setdefault(learner, {}).setdefault(reason, []).append(experiment)
            continue
        row = choice.row
        named = (memory.text, experiment, results.experiment.dataset.name, learner, row["algorithm"], row["params"])
        numbers = (row["model_bytes_mean"], choice.by, row["runs"], row[f"{measure}_mean"], row[f"{measure}_std"])
        chosen.append((*named, *numbers))
    return pd.DataFrame(chosen, columns=list(COLUMNS)), missing


def _where(reason: str, experiments: list[str], of: int) -> str:
    places = ", ".join(experiments) if len(experiments) < of else f"any of the {of} datasets"
    return f"{reason} on {places}"


def _same(one: Comparison, other: Comparison) -> bool:
    """Whether a larger memory has changed nothing."""
    return one.chosen.drop(columns="memory").equals(other.chosen.drop(columns="memory"))


def _warn_of_repeats(results: Sequence[Results]) -> None:
    """Datasets are to be independent of each other."""
    alike: dict[tuple[str, str], list[str]] = {}
    for one in results:
        dataset = one.experiment.dataset
        alike.setdefault((dataset.name, canonical_json(dataset.options)), []).append(one.experiment.name)
    for (name, _), experiments in alike.items():
        if len(experiments) > 1:
            said = f"{', '.join(experiments)} are all of {name}: the tests take them for independent of each other"
            warnings.warn(said, Notice, stacklevel=3)


def _nothing(rows: Rows, memory: Sequence[Memory]) -> str:
    """Why nothing can be compared, and what to do."""
    learners = [set(own["learner"]) for _, own in rows.values()]
    common = sorted(set.intersection(*learners))
    if len(common) < 2:
        have = f"only {common[0]} is" if common else "no learner is"
        return f"{have} in all of {', '.join(rows)}: compare takes experiments that have two learners or more in common"
    least = sorted(max(_smallest(own, name) for _, own in rows.values()) for name in common)[1]
    if memory and all(one.nbytes(results) < least for one in memory for results, _ in rows.values()):
        wanted = f"the two smallest need --memory {math.ceil(least)}"
        return f"no two learners have {memory[-1].words} on every dataset; {wanted}"
    advice = "give --select test_error to choose by that, which is optimistic"
    return f"no two learners have one parameter set, or a validation or online error to choose by; {advice}"


def _smallest(rows: pd.DataFrame, learner: str) -> float:
    """Bytes of a learner's smallest model."""
    return float(rows.loc[rows["learner"] == learner, "model_bytes_mean"].min())
