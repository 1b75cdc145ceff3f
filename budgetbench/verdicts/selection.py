"""Which runs a statement is about: selectors pick learners and sizes out of the results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import AfterValidator

from budgetbench.archive import experiment_folders, read_results
from budgetbench.errors import Notice, RequestError
from budgetbench.learners import learners
from budgetbench.parameters import Accepted, declared
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES, SECONDS, MeasureName
from budgetbench.results.names import learner, learner_title, parameters_text
from budgetbench.results.records import completed
from budgetbench.results.sizes import signs, sizes_of
from budgetbench.results.summary import params_of
from budgetbench.verdicts.evidence import MissingError, Reason
from budgetbench.verdicts.statistics import FEW


def _names_a_learner(selector: Mapping[str, Any]) -> Mapping[str, Any]:
    if "algorithm" not in selector:
        raise ValueError("no algorithm")
    return selector


Selector = Annotated[Mapping[str, Any], AfterValidator(_names_a_learner), Accepted("a mapping with the key algorithm")]
Selectors = Annotated[Selector | list[Selector], Accepted("one mapping with the key algorithm, or a list of such")]


@dataclass(frozen=True)
class _Selector:
    """What selectors say besides values of parameters.

    Parameters
    ----------
    algorithm : the learner, or several, of which the first is meant that was run.
    experiment : in place of the view's.
    at : which sizes are meant: each by itself, one, or the one that is best.
    by : the measure by which it is best.
    holding : a selector of one learner: only sizes that have room for all that it stores.
    short_of : a selector of one learner: only sizes that are too small for what it stores, in each of its runs.
    """

    algorithm: Annotated[str | list[str], Accepted("a learner or a list of learners")]
    experiment: str | None = None
    at: Literal["each", "smallest", "largest", "best"] = "each"
    by: MeasureName = "test_error"
    holding: Selector | None = None
    short_of: Selector | None = None


SELECTOR = declared(_Selector)


@dataclass(frozen=True, eq=False)
class Candidate:
    """Runs of one learner: of one parameter set, or those picked from several sizes.

    Attributes
    ----------
    label : in words.
    experiment : the name of theirs.
    permutation : runs of one number that agree in it saw the same examples in the same order, and are paired.
    sizes : the sizes (`results.sizes.signs`) that all runs have in common.
    runs : rows of `Results.trials`, indexed by run.
    params : the parameter set.
    asked : of the sizes those that the selector says, one of each, so that it is about no others.
    one_test_set : whether all runs were tested on the same examples.
    """

    label: str
    experiment: str
    permutation: Mapping[str, Any]
    sizes: Mapping[str, Any]
    runs: pd.DataFrame
    params: Mapping[str, Any] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    one_test_set: bool = False

    def values(self, measure: str) -> pd.Series[float]:
        """The measure's value in each run that has one."""
        found = MEASURES[measure].values(self.runs).dropna()
        if not len(found):
            text = f"no {measure} of {self.label} in {self.experiment}"
            # Every run is timed: times that are not there were taken in another way, by an older version.
            raise MissingError(text, Reason("untimed", {"text": text}) if MEASURES[measure].unit is SECONDS else None)
        return found


@dataclass(frozen=True, eq=False)
class Point:
    """A parameter set of an experiment, with its runs that ended well; see `Candidate`."""

    algorithm: str
    params: Mapping[str, Any]
    sizes: Mapping[str, Any]
    selected: bool
    runs: pd.DataFrame


class Archive:
    """All results under a folder, each experiment read when it is asked for."""

    def __init__(self, root: Path | str, read: Callable[[Path], Results] = read_results) -> None:
        self._reader = read
        self._folders = {folder.name: folder for folder in experiment_folders(root)}
        self._read: dict[str, Results] = {}
        self._points: dict[str, list[Point]] = {}

    def __getitem__(self, experiment: str) -> Results:
        if experiment in self._folders:
            folder = self._folders.pop(experiment)
            try:
                self._read[experiment] = self._reader(folder)
            except RequestError as error:
                warnings.warn(f"{experiment} is left out: {error}", Notice, stacklevel=2)
        if experiment not in self._read:
            raise MissingError(f"no results of {experiment}", Reason("no_results", {"experiment": experiment}))
        return self._read[experiment]

    def points(self, experiment: str) -> list[Point]:
        """The parameter sets of an experiment, made once: hundreds of claims ask for them."""
        if experiment not in self._points:
            results = self[experiment]
            runs: dict[Any, pd.DataFrame] = dict(tuple(completed(results.trials).groupby("point")))
            rows = zip(results.summary.iterrows(), params_of(results.summary), strict=True)
            self._points[experiment] = [
                Point(row["algorithm"], params, sizes_of(params), row["selected"], runs[number].set_index("run"))
                for (number, row), params in rows
                if number in runs
            ]
        return self._points[experiment]


@dataclass(frozen=True)
class View:
    """What the statements see: the results, and the experiment that a claim is checked on."""

    archive: Archive
    experiment: str

    def results(self, experiment: str | None = None) -> Results:
        return self.archive[experiment or self.experiment]

    def complete(self, experiments: Iterable[str]) -> bool:
        """Whether each parameter set of these experiments has a run that ended well."""
        try:
            found = [self.results(experiment) for experiment in experiments]
        except MissingError:
            return False
        return all((one.summary["runs"] > 0).sum() == len(one.experiment.parameter_sets) for one in found)

    def pick(self, selector: Selector | Iterable[Selector], all_sets: bool = False) -> list[Candidate]:
        """The runs that one or several selectors mean.

        A selector names values of parameters (or lists of values) beside the keys of `_Selector`. What it does not
        name has the learner's default where the experiment has that too, and is the set that the experiment's `select`
        chose unless `all_sets`. Without `at` there is one candidate for each size.

        Raises
        ------
        MissingError : nothing was run that the selector means.
        """
        if not isinstance(selector, Mapping):
            return [candidate for one in selector for candidate in self.pick(one, all_sets)]
        if isinstance(selector["algorithm"], list):
            return self.pick(self._first_run(selector), all_sets)
        found = self._points(selector, all_sets)
        if "holding" in selector:
            found = self._roomy(found, selector["holding"])
        if "short_of" in selector:
            found = self._short(found, selector["short_of"])
        place = selector.get("at", "each")
        if place == "best":
            return [_best(found, str(selector.get("by", "test_error")))]
        if place != "each":
            sized = [candidate for candidate in found if candidate.sizes.get("budget")]
            if not sized:
                raise MissingError(f"no sizes of {in_words(selector)} in {self.experiment}")
            one = (min if place == "smallest" else max)(sized, key=lambda candidate: candidate.sizes["budget"])
            return [replace(one, asked=one.asked | {"budget"})]
        return found

    def _roomy(self, candidates: list[Candidate], stored: Selector) -> list[Candidate]:
        (model,) = self.pick(stored)
        size = model.values("support_size").mean()
        found = [candidate for candidate in candidates if (candidate.sizes["budget"] or 0) >= size]
        if not found:
            raise MissingError(f"{candidates[0].label}: no size as large as the {size:.0f} that {model.label} stores")
        return found

    def _short(self, candidates: list[Candidate], stored: Selector) -> list[Candidate]:
        (model,) = self.pick(stored)
        size = model.values("support_size").min()
        found = [candidate for candidate in candidates if (candidate.sizes["budget"] or inf) < size]
        if not found:
            raise MissingError(f"{candidates[0].label}: no size below the {size:.0f} that {model.label} stores")
        return found

    def stands_in(self, selector: Selector) -> str | None:
        """The learner that a selector of several comes to, where it is not the one that is meant."""
        if not isinstance(selector["algorithm"], list):
            return None
        used = str(self._first_run(selector)["algorithm"])
        return None if used == learners.canonical(selector["algorithm"][0]) else used

    def _first_run(self, selector: Selector) -> Selector:
        names = [learners.canonical(name) for name in selector["algorithm"]]
        summary = self.results(selector.get("experiment")).summary
        run = set(summary.loc[summary["runs"] > 0, "algorithm"])
        return {**selector, "algorithm": next((name for name in names if name in run), names[0])}

    def _points(self, selector: Selector, all_sets: bool) -> list[Candidate]:
        experiment = str(selector.get("experiment", self.experiment))
        results = self.results(experiment)
        algorithm = learners.canonical(str(selector["algorithm"]))
        wanted = {name: value for name, value in selector.items() if name not in SELECTOR}
        accepted = {name: value if isinstance(value, list) else [value] for name, value in wanted.items()}
        named = {name: value for name, value in wanted.items() if name not in signs() and not isinstance(value, list)}
        asked = frozenset(name for name in wanted if name in signs() and not isinstance(wanted[name], list))
        permutation = results.experiment.permutation()
        one_test_set = not results.experiment.dataset.tests_differ
        found: list[Candidate] = []
        for point in self.archive.points(experiment):
            if point.algorithm != algorithm or not (point.selected or all_sets):
                continue
            params, sizes = point.params, point.sizes
            if all({**params, **sizes}.get(name) in values for name, values in accepted.items()):
                words = label(algorithm, named, sizes)
                found.append(Candidate(words, experiment, permutation, sizes, point.runs, params, asked, one_test_set))
        if not found:
            raise MissingError(f"no runs of {in_words(selector)} in {experiment}")
        return found if all_sets else _by_default(algorithm, found)


def _by_default(algorithm: str, candidates: list[Candidate]) -> list[Candidate]:
    """Of several variants of one size, the one that has most of the learner's defaults."""
    cls = learner(algorithm)
    defaults = cls.defaults() if cls else {}
    variants: dict[tuple[Any, ...], list[Candidate]] = {}
    for candidate in candidates:
        variants.setdefault(tuple(candidate.sizes.values()), []).append(candidate)
    return [
        max(same, key=lambda one: sum(one.params.get(name) == default for name, default in defaults.items()))
        for same in variants.values()
    ]


def _best(candidates: list[Candidate], by: str) -> Candidate:
    """One learner at its best size.

    A size that is chosen because it did best on some runs looks better on these runs than it is. So the size is chosen
    for each run by the mean over the *other* runs. Where it is chosen by a measure of the training stream (online
    error), as one can in practice, each run chooses for itself.
    """
    table = pd.DataFrame({number: candidate.values(by) for number, candidate in enumerate(candidates)}).dropna()
    if not len(table):
        raise MissingError(f"no run of {candidates[0].label} at all sizes")
    own = not MEASURES[by].tested or len(table) < FEW
    scores = table if own else (table.sum() - table) / (len(table) - 1)
    picked = scores.idxmin(axis=1)
    rows = pd.concat([candidates[number].runs.loc[[run]] for run, number in picked.items()])
    rows.index.name = "run"
    usual = candidates[int(picked.mode().iloc[0])]
    return replace(usual, label=f"{usual.label} (best)", sizes={}, runs=rows, asked=frozenset())


def label(algorithm: str, params: Mapping[str, Any], sizes: Mapping[str, Any]) -> str:
    """A learner in words, with some of its parameters and its sizes: `Projectron, B = 1500`."""
    words = [learner_title(algorithm), parameters_text(params, params)]
    words += [f"{sign} = {sizes[name]}" for name, sign in signs().items() if sizes.get(name)]
    return ", ".join(word for word in words if word)


def in_words(selector: Selector) -> str:
    named = {name: value for name, value in selector.items() if name not in SELECTOR}
    words = parameters_text(named, named)
    return learner_title(str(selector["algorithm"])) + (f" ({words})" if words else "")
