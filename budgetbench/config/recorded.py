"""The experiment of a folder of results, which another version of the program may have written."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from budgetbench.config.dataset import SECTION
from budgetbench.config.estimators import title_of, written
from budgetbench.config.kernels import kernels_of
from budgetbench.config.loading import interpret, plots_of, section_of, table_of
from budgetbench.document import Document, parse
from budgetbench.errors import ConfigError, Notice, ParameterError, RequestError
from budgetbench.experiment import Algorithm, Experiment
from budgetbench.kernels import Kernel
from budgetbench.learners import learners
from budgetbench.parameters import check
from budgetbench.reading import Reading
from budgetbench.results.measures import LARGEST, SUMMARISED, Count
from budgetbench.results.names import complete
from budgetbench.results.schema import MOST, Checked, Name, Plain, Text, problem, with_budgets
from budgetbench.results.sizes import kept
from budgetbench.sections import DatasetSection, LabelNoise, Reproduces


def recorded(path: Path) -> Experiment:
    """The experiment that a folder's `experiment.yaml` describes.

    What this version accepts is read as from any configuration. An algorithm, a parameter, a dataset or a kernel that
    it does not know is taken as it stands, and a figure or table left out with a notice.

    Raises
    ------
    RequestError : the file is missing, or not what it should be in any version.
    """
    advice = "Running the experiment again writes it anew and keeps the finished runs."
    if not path.exists():
        raise RequestError(f"{path.parent} holds no {path.name}, which says what its runs are. {advice}")
    try:
        document = parse(path.read_text(encoding="utf-8-sig"), path.name)
    except OSError as error:
        raise RequestError(f"{path} cannot be read ({error.strerror}). {advice}") from None
    except (ConfigError, ValueError, RecursionError) as error:
        what = " ".join(str(error).split())[:200]
        raise RequestError(f"{path} is not readable as YAML ({what}). {advice}") from None
    if not isinstance(document.data, dict):
        found = type(document.data).__name__
        raise RequestError(f"{path}: found {found}; accepted: a mapping. {advice}")
    document.data.setdefault("name", path.parent.name)
    try:
        return interpret(document)
    except ConfigError:
        pass
    try:
        return _as_it_stands(document, _Recorded.model_validate(document.data))
    except ValidationError as error:
        raise RequestError(f"{path}: {problem(error)}. {advice}") from None


class _Entry(Checked):
    name: Name
    title: Text | None = None
    select: Literal[SUMMARISED] | None = None  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _parameters(self) -> _Entry:
        with_budgets(self.given)
        return self

    @property
    def given(self) -> dict[str, Any]:
        return self.model_extra or {}


def _entry(value: Any) -> Any:
    """A name alone is an entry without parameters; a class of another package has them in sections."""
    if isinstance(value, dict) and "estimator" in value:
        own = {name: given for name, (_, given) in written(value).items()}
        return own | {"name": value["estimator"], "title": title_of(value), "select": value.get("select")}
    return {"name": value} if isinstance(value, str) else value


class _Dataset(Checked):
    name: Name


class _Recorded(Checked):
    """What every version says of an experiment."""

    name: Name
    title: Text | None = None
    permutations: Annotated[int, Field(ge=1, le=LARGEST)] = 1
    seed: Count = 0
    epochs: Annotated[int, Field(ge=1, le=LARGEST)] = 1
    checkpoints: Count = 200
    order: Literal["shuffled", "given"] = "shuffled"
    dataset: _Dataset | None = None
    kernel: dict[str, Plain] = Field(default_factory=dict)
    algorithms: list[Annotated[_Entry, BeforeValidator(_entry)]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _of_bounded_size(self) -> _Recorded:
        grids = [entry.given for entry in self.algorithms]
        sizes = [math.prod(len(value) for value in grid.values() if isinstance(value, list)) for grid in grids]
        if sum(sizes) > MOST:
            raise ValueError(f"algorithms with at most {MOST} parameter sets")
        return self


def _as_it_stands(document: Document, stated: _Recorded) -> Experiment:
    shown, passed_over = Reading(document), Reading(document)
    plots, table = plots_of(shown, document.data.get("plots")), table_of(shown)
    for refused in shown.problems:
        warnings.warn(f"{stated.name}: {refused}. It is left out.", Notice, stacklevel=3)
    grid = kernels_of(passed_over, stated.kernel)
    experiment = Experiment(
        name=stated.name,
        title=stated.title or stated.name,
        reproduces=section_of(passed_over, Reproduces, "reproduces"),
        dataset=_dataset(document.data.get("dataset") or {}),
        label_noise=section_of(passed_over, LabelNoise, "label_noise") or LabelNoise(rate=0.0),
        kernel=grid.kernels[0] if grid else _unknown_kernel(str(stated.kernel.get("name"))),
        order=stated.order,
        permutations=stated.permutations,
        epochs=stated.epochs,
        seed=stated.seed,
        checkpoints=stated.checkpoints,
        algorithms=tuple(_algorithm(entry, stated.epochs) for entry in stated.algorithms),
        plots=plots,
        table=table,
    )
    return experiment.with_kernels(grid) if grid else experiment


def _dataset(data: Mapping[str, Any]) -> DatasetSection:
    known = {name: value for name, value in data.items() if name in SECTION}
    try:
        section = DatasetSection(**check(SECTION, known))
    except ParameterError:
        section = DatasetSection(name=str(data.get("name", "")))
    return replace(section, options={name: data[name] for name in data if name not in SECTION})


def _algorithm(entry: _Entry, epochs: int) -> Algorithm:
    name = learners.canonical(entry.name)
    grid = {name: tuple(value) if isinstance(value, list) else (value,) for name, value in entry.given.items()}
    if name in learners and "epochs" in learners[name].own_parameters():
        grid.setdefault("epochs", (epochs,))
    sets = (dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values()))
    revision = learners[name].revision if name in learners else 0
    trials = tuple(complete(name, params) for params in sets)
    return Algorithm(name, revision, entry.select, grid, trials, sizes=kept(name), title=entry.title)


def _unknown_kernel(name: str) -> Kernel:
    """Stands for a kernel of another version, which has no values in this one."""

    def refuse(*_: Any) -> Any:
        raise RequestError(f"kernel: {name} is not known to this version")

    unknown = type("Unknown", (Kernel,), {"name": name, **dict.fromkeys(Kernel.__abstractmethods__, refuse)})
    return unknown()  # type: ignore[no-any-return]
