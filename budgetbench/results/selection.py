"""What is to be said where one parameter set was chosen among several."""

from __future__ import annotations

from collections.abc import Iterable

from budgetbench.experiment import Algorithm

#: By the measure that chose.
NOTES = {
    "test_error": "optimistic, as the test examples chose it",
    "validation_error": "training examples held out chose it",
}


def selection_notes(algorithms: Iterable[Algorithm]) -> list[str]:
    """A sentence for each measure by which the best of several parameter sets was chosen."""
    measures = dict.fromkeys(algorithm.chosen_by for algorithm in algorithms if algorithm.searched)
    return [f"Best by {measure.replace('_', ' ')}: {NOTES[measure]}." for measure in measures if measure in NOTES]
