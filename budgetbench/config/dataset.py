"""The dataset of a configuration, checked against what the dataset declares; nothing is loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from budgetbench.datasets import Dataset, datasets
from budgetbench.errors import NOTHING, ParameterError
from budgetbench.parameters import declared, plain
from budgetbench.reading import Reading
from budgetbench.sections import OF_STREAMS, DatasetSection

SECTION = {name: parameter for name, parameter in declared(DatasetSection).items() if name != "options"}


def dataset_of(reading: Reading, raw: Any) -> DatasetSection | None:
    """The dataset's section with its default variant and options filled in, or None with its problems noted."""
    before, dataset, own = len(reading.problems), None, {}
    if isinstance(raw, dict) and isinstance(raw.get("name"), str):
        name = reading.named(("dataset",), raw, datasets)
        dataset = datasets[name] if name else None
        if dataset:
            own = dataset.parameters()
        else:  # its options cannot be judged: a key that any dataset takes is let pass
            options = {option for other in datasets for option in datasets[other].parameters()}
            raw = {key: value for key, value in raw.items() if key not in options}
    values = reading.checked(("dataset",), raw, SECTION | own)
    if dataset is None or values is None:
        return None
    section = DatasetSection(
        **{name: values[name] for name in SECTION}, options={name: plain(values[name]) for name in own}
    )
    checks = _Checks(reading, dataset, section)
    complete = replace(section, name=dataset.name, variant=checks.variant())
    checks.positive()
    checks.multiclass()
    checks.sizes()
    if not section.stream:
        checks.without_stream()
    return complete if len(reading.problems) == before else None


class _Checks:
    """Checks a section against its dataset, noting what is wrong."""

    def __init__(self, reading: Reading, dataset: Dataset, section: DatasetSection) -> None:
        self.reading, self.dataset, self.section = reading, dataset, section

    def variant(self) -> str | None:
        try:
            return self.dataset.checked_variant(self.section.variant) or None
        except ParameterError as error:
            self.reading.note_all(("dataset",), error)
            return None

    def positive(self) -> None:
        classes = self.dataset.classes_of(self.section.variant)
        if classes is None or self.section.positive is None:
            return
        listed = ", ".join(map(str, classes))
        raw = self.reading.document.data["dataset"]["positive"]
        for number, label in enumerate(self.section.positive):
            if label not in classes:
                at = (number,) if isinstance(raw, list) else ()
                self._note("positive", label, f"a class of {self.dataset.name}: {listed}", *at)
        if set(self.section.positive) == set(classes):
            self._note("positive", raw, f"some and not all of the classes {listed}")

    def multiclass(self) -> None:
        if self.section.positive is not None and self.section.multiclass is not None:
            self._note("multiclass", self.section.multiclass, "nothing where positive makes two classes of all")

    def sizes(self) -> None:
        section, dataset = self.section, self.dataset
        given, missing = ("train_size", "test_size") if section.test_size is None else ("test_size", "train_size")
        if (section.train_size is None) != (section.test_size is None):
            self._note(missing, NOTHING, f"an integer of at least 1, because {given} is given")
        elif section.train_size and section.test_size and dataset.n_train and not dataset.parameters():
            total, wanted = dataset.n_train + (dataset.n_test or 0), section.train_size + section.test_size
            if wanted > total:
                rest = f"at most {total} together with test_size, which is all that {dataset.name} has"
                self._note("train_size", section.train_size, rest)
        if section.redraw and not dataset.generated:
            generated = ", ".join(name for name in datasets if datasets[name].generated)
            self._note("redraw", True, f"false, or one of the generated datasets: {generated}")

    def without_stream(self) -> None:
        for name in OF_STREAMS:
            if name in self.reading.document.data["dataset"]:
                found = self.reading.document.data["dataset"][name]
                if found != SECTION[name].default:
                    self._note(name, found, "nothing unless stream: true says that the dataset passes by")

    def _note(self, name: str, found: Any, accepted: str, *at: int) -> None:
        self.reading.note(("dataset", name, *at), found, accepted)


def number_of_classes(section: DatasetSection) -> int | None:
    """How many classes the learners see; None when only loading tells."""
    if section.positive is not None:
        return 2
    classes = datasets[section.name].classes_of(section.variant)
    return None if classes is None else len(classes)


def has_test_set(section: DatasetSection) -> bool:
    """Whether a run will have a test set, as far as is known without loading."""
    return section.test_size is not None or not datasets[section.name].pooled
