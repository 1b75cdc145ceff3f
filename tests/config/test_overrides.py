"""Values from the command line: `--set`, `--permutations` and `--only`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from budgetbench.config import restricted
from budgetbench.errors import RequestError
from budgetbench.experiment import Experiment

Read = Callable[..., Experiment]
Refused = Callable[..., str]


def test_values_are_replaced_and_added(read: Read) -> None:
    experiment = read(
        overrides=[
            "dataset.limit=50",
            "label_noise.rate=2e-1",
            "kernel={name: linear}",
            "algorithms.0.epochs=[1, 3]",
            "title=",
            "seed = 4",
        ]
    )
    assert experiment.dataset.limit == 50
    assert experiment.label_noise.rate == 0.2
    assert experiment.kernel.name == "linear"
    assert [trial["epochs"] for trial in experiment.algorithms[0].trials] == [1, 3]
    assert experiment.title == "example"
    assert experiment.seed == 4


def test_the_later_override_wins(read: Read) -> None:
    assert read(overrides=["seed=1", "seed=2"]).seed == 2


def test_brackets_as_errors_write_them(read: Read) -> None:
    assert read(overrides=["algorithms[0].epochs=3"]).algorithms[0].trials[0]["epochs"] == 3


def test_permutations(read: Read, refused: Refused) -> None:
    assert read(permutations=7).permutations == 7
    assert type(read(permutations=np.int64(7)).permutations) is int
    assert refused(permutations=0).startswith(
        "--permutations 0: permutations: found 0; accepted: an integer of at least"
    )


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("dataset.limit=no", "dataset.limit: found 'no'; accepted: an integer of at least 1"),
        ("algorithms.0.epochs=[1, 0]", "algorithms[0].epochs[1]: found 0; accepted: an integer of at least 1"),
        (
            "dataset.limt=5",
            "dataset.limt: found 'limt'; accepted: name, positive, multiclass, scale, scale_on, variant, train_size,"
            " test_size, validation_size, limit, redraw, stream, classes, scale_by, shuffle_buffer."
            " Did you mean 'limit'?",
        ),
        ("label_noise.mode=exact", "label_noise.rate: found nothing; accepted: a number from 0 to 1"),
        ("algorithms.1.epochs=1", "algorithms[1]: found 1; accepted: the number of a list's entry, 0 to 0"),
        (
            "algorithms.plain.epochs=1",
            "algorithms.plain: found 'plain'; accepted: the number of a list's entry, 0 to 0",
        ),
        ("name.x=1", "name.x: found 'example'; accepted: a mapping or a list, to set a value inside it"),
        ("seed=[1", "found '[1'; accepted: valid YAML. The YAML reader says: "),
    ],
)
def test_what_is_wrong_names_the_flag(refused: Refused, assignment: str, message: str) -> None:
    place = f"--set {assignment}:1" if "valid YAML" in message else f"--set {assignment}"
    assert refused(overrides=[assignment]).startswith(f"{place}: {message}")


@pytest.mark.parametrize("assignment", ["seed", "=5", ".=5"])
def test_not_an_assignment(refused: Refused, assignment: str) -> None:
    said = refused(overrides=[assignment])
    assert said == f"--set: found {assignment!r}; accepted: KEY=VALUE, such as dataset.limit=500"


def test_problems_of_the_file_keep_their_lines(refused: Refused) -> None:
    said = refused(overrides=["dataset.positive=7", "kernel.gamma=1", "seed=-1"])
    assert said.splitlines() == [
        "--set seed=-1: seed: found -1; accepted: an integer of at least 0 and at most 9007199254740992",
        "--set dataset.positive=7: dataset.positive: found 7; accepted: a class of images: 0, 1, 2",
    ]


SEVERAL = """\
name: example
dataset: {name: images, positive: 0}
kernel: {name: linear}
algorithms: [{name: plain}, {name: sm, budget: 3}, {name: many}, {name: small, budget: 4}]
"""


def test_only_some_algorithms(read: Read) -> None:
    assert [entry.name for entry in restricted(read(SEVERAL), ["sm"]).algorithms] == ["small", "small"]
    assert [entry.name for entry in restricted(read(SEVERAL), ["many", "plain"]).algorithms] == ["plain", "many"]


def test_only_an_algorithm_that_is_not_there(read: Read) -> None:
    with pytest.raises(RequestError) as caught:
        restricted(read(SEVERAL), ["plan"])
    message = "--only plan: example has no such algorithm; accepted: plain, small, many. Did you mean 'plain'?"
    assert str(caught.value) == message
