"""The dataset of a configuration, checked against what the dataset declares; nothing is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from budgetbench.config.document import Document
from budgetbench.config.problems import NOTHING, Problem
from budgetbench.config.sections import note_unknown_key, validated
from budgetbench.datasets import Dataset, datasets
from budgetbench.errors import ParameterError, nearest
from budgetbench.experiment import DatasetSection

FIELDS = [name for name in DatasetSection.model_fields if name != "options"]


def dataset_of(document: Document, raw: Any, problems: list[Problem]) -> DatasetSection | None:
    """The dataset's section with its default variant and options filled in, or None with its problems noted."""
    if not isinstance(raw, dict):
        problems.append(document.problem(("dataset",), raw, f"a mapping with the keys {', '.join(FIELDS)}"))
        return None
    before = len(problems)
    name = raw.get("name")
    dataset = datasets[name] if isinstance(name, str) and name in datasets else None
    if isinstance(name, str) and dataset is None:
        problems.append(document.problem(("dataset", "name"), name, ", ".join(datasets), nearest(name, datasets)))
    # An unknown dataset's options cannot be judged: then a key that any dataset takes is let pass.
    declared = [dataset] if dataset else [datasets[other] for other in datasets]
    options = list(dict.fromkeys(option for other in declared for option in other.options))
    for key in raw:
        if key not in FIELDS and key not in options:
            note_unknown_key(document, ("dataset", key), [*FIELDS, *(options if dataset else ())], problems)
    plain = {key: value for key, value in raw.items() if key in FIELDS}
    section = validated(DatasetSection, document, ("dataset",), plain, problems)
    if dataset is None or section is None:
        return None
    checks = _Checks(document, dataset, section, problems)
    given = {key: value for key, value in raw.items() if key in options}
    complete = section.model_copy(update=checks.completed(given))
    checks.positive()
    checks.sizes()
    return complete if len(problems) == before else None


class _Checks:
    """Checks a section against its dataset, noting what is wrong."""

    def __init__(self, document: Document, dataset: Dataset, section: DatasetSection, problems: list[Problem]) -> None:
        self.document, self.dataset, self.section, self.problems = document, dataset, section, problems

    def completed(self, given: dict[str, Any]) -> dict[str, Any]:
        """The canonical name, the variant and the options."""
        complete: dict[str, Any] = {"name": self.dataset.name}
        try:
            complete["variant"] = self.dataset.checked_variant(self.section.variant) or None
        except ParameterError as error:
            hint = nearest(error.found, self.dataset.variants)
            self._problem("variant", error.found, error.accepted, hint)
        try:
            values = self.dataset.checked({key: given[key] for key in given if key in self.dataset.options})
            complete["options"] = {key: _plain(value) for key, value in values.items()}
        except ParameterError as error:
            found = error.found if error.parameter in given else NOTHING
            self._problem(error.parameter, found, error.accepted)
        return complete

    def positive(self) -> None:
        classes = classes_of(self.dataset, self.section.variant)
        if classes is None or self.section.positive is None:
            return
        listed = ", ".join(map(str, classes))
        raw = self.document.data["dataset"]["positive"]
        for number, label in enumerate(self.section.positive):
            if label not in classes:
                at = (number,) if isinstance(raw, list) else ()
                self._problem("positive", label, f"a class of {self.dataset.name}: {listed}", "", *at)
        if set(self.section.positive) == set(classes):
            self._problem("positive", raw, f"some and not all of the classes {listed}")

    def sizes(self) -> None:
        section, dataset = self.section, self.dataset
        given, missing = ("train_size", "test_size") if section.test_size is None else ("test_size", "train_size")
        if (section.train_size is None) != (section.test_size is None):
            self._problem(missing, NOTHING, f"an integer of at least 1, because {given} is given")
        elif section.train_size and section.test_size and dataset.n_train and not dataset.options:
            total, wanted = dataset.n_train + (dataset.n_test or 0), section.train_size + section.test_size
            if wanted > total:
                rest = f"at most {total} together with test_size, which is all that {dataset.name} has"
                self._problem("train_size", section.train_size, rest)
        if section.redraw and not dataset.generated:
            generated = ", ".join(name for name in datasets if datasets[name].generated)
            self._problem("redraw", True, f"false, or one of the generated datasets: {generated}")

    def _problem(self, name: str, found: Any, accepted: str, hint: str = "", *at: int) -> None:
        self.problems.append(self.document.problem(("dataset", name, *at), found, accepted, hint))


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def classes_of(dataset: Dataset, variant: str | None) -> tuple[int | str, ...] | None:
    """The class labels of a variant, which may have classes of its own; None when only loading tells."""
    of_variant = getattr(dataset, "classes_of", None)
    if of_variant is None or (variant and variant not in dataset.variants):
        return dataset.classes
    known: tuple[int | str, ...] | None = of_variant(dataset.checked_variant(variant))
    return known


def number_of_classes(section: DatasetSection) -> int | None:
    """How many classes the learners see; None when only loading tells."""
    if section.positive is not None:
        return 2
    classes = classes_of(datasets[section.name], section.variant)
    return None if classes is None else len(classes)


def has_test_set(section: DatasetSection) -> bool:
    """Whether a run will have a test set, as far as is known without loading."""
    return section.test_size is not None or not datasets[section.name].pooled
