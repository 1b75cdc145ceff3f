"""What an experiment may ask of a dataset that passes by: what no single pass over it can do is refused here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from budgetbench.datasets import datasets
from budgetbench.document import Key
from budgetbench.engine.online import OnlineLearner
from budgetbench.errors import ParameterError
from budgetbench.experiment import Algorithm
from budgetbench.learners import learners
from budgetbench.reading import Reading
from budgetbench.sections import DatasetSection


def check_stream(
    reading: Reading,
    section: DatasetSection,
    selections: Iterable[tuple[Key, str]],
    algorithms: Sequence[Algorithm | None],
) -> None:
    """Note what makes no sense with `stream: true`.

    Parameters
    ----------
    selections : where something is chosen, and by which measure.
    """
    raw = reading.document.data
    dataset = datasets[section.name]
    if not dataset.streams:
        known = ", ".join(name for name in datasets if datasets[name].streams)
        reading.note(("dataset", "stream"), True, f"false, or one of the datasets that can be streamed: {known}")
    for name in ("train_size", "test_size"):
        if getattr(section, name) is not None:
            hint = "Give the test examples in a file of their own: test_path."
            reading.note(("dataset", name), getattr(section, name), "nothing, as a stream is not split", hint)
    if section.validation_size is not None:
        found = section.validation_size
        hint = "Each example is predicted before it is learnt from: online_error tells."
        reading.note(("dataset", "validation_size"), found, "nothing, as a stream holds out none", hint)
    _check_columns(reading, section)
    _check_order(reading, section, raw.get("order"))
    for key, select in selections:
        if select == "validation_error":
            reading.note(key, select, "test_error, with a test file, as a stream holds out no examples")
    for number, algorithm in enumerate(algorithms):
        if algorithm is not None:
            _check_learner(reading, number, algorithm)


def _check_columns(reading: Reading, section: DatasetSection) -> None:
    for name, default in (("missing", "error"), ("categorical", None)):
        found = section.options.get(name, default)
        if found != default:
            accepted = f"{'nothing' if default is None else default}, as a stream takes numbers alone"
            hint = "What stands for a gap or a word takes other rows: encode the file beforehand."
            reading.note(("dataset", name), found, accepted, hint)
    if section.scale_on == "all":
        reading.note(("dataset", "scale_on"), "all", "train, as a stream's scale is told by its own rows")


def _check_order(reading: Reading, section: DatasetSection, order: Any) -> None:
    if order == "shuffled" and section.shuffle_buffer is None:
        hint = "For a random order give dataset.shuffle_buffer, a number of rows that memory holds."
        reading.note(("order",), order, "given, as a stream comes in the order of its file", hint)
    if order == "given" and section.shuffle_buffer is not None:
        reading.note(("order",), order, "shuffled, as dataset.shuffle_buffer says")


def _check_learner(reading: Reading, number: int, algorithm: Algorithm) -> None:
    kind = learners[algorithm.name]
    if not issubclass(kind, OnlineLearner):
        known = ", ".join(name for name in learners if issubclass(learners[name], OnlineLearner))
        hint = "A stream passes once, and is never held as a whole."
        reading.note(("algorithms", number, "name"), algorithm.name, f"for a stream: {known}", hint)
        return
    for values in algorithm.trials:
        if values.get("epochs", 1) > 1:
            inherited = "epochs" not in (algorithm.entry or {}) and "epochs" in reading.document.data
            key: Key = ("epochs",) if inherited else ("algorithms", number, "epochs")
            reading.note(key, values["epochs"], "1, as a stream passes once")
            return
        try:
            kind.check_endless(values)
        except ParameterError as error:
            reading.note_all(("algorithms", number), error)
            return
