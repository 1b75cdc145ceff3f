"""The configurations that come with the program, against the real learners and datasets."""

from __future__ import annotations

from pathlib import Path

import pytest

from budgetbench.config import load
from budgetbench.document import dump
from budgetbench.errors import ConfigError

FOLDER = Path(__file__).parents[2] / "configs"
CONFIGS = sorted(FOLDER.rglob("*.yaml"))


@pytest.fixture
def known() -> None:
    """The real learners and datasets, unlike in the other tests of this folder."""


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: "_".join(path.relative_to(FOLDER).with_suffix("").parts))
def test_valid_and_named_like_its_file(path: Path, tmp_path: Path) -> None:
    experiment = load(path)
    assert experiment.name == "_".join(path.relative_to(FOLDER).with_suffix("").parts)
    assert experiment.title != experiment.name
    copy = tmp_path / "experiment.yaml"
    copy.write_text(dump(experiment.resolved()), encoding="utf-8")
    assert load(copy) == experiment


def test_there_are_some() -> None:
    assert {"quickstart", "quickstart_digits", "usps", "usps_noise10", "waveform", "banana"} <= {
        path.stem for path in CONFIGS
    }


def test_a_variant_with_classes_of_its_own() -> None:
    path = FOLDER / "waveform.yaml"
    experiment = load(path, overrides=["dataset.variant=binary", "dataset.positive="])
    assert experiment.dataset.positive is None
    with pytest.raises(ConfigError, match=r"dataset\.positive: found 2; accepted: a class of waveform: -1, 1"):
        load(path, overrides=["dataset.variant=binary", "dataset.positive=2"])
