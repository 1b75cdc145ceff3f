"""Experiments that were never run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from budgetbench.config import recorded
from budgetbench.experiment import Experiment


@pytest.fixture
def made_up(tmp_path: Path) -> Callable[..., Experiment]:
    """The experiment of these entries of algorithms and other keys, which need not be known to the program."""

    def made_up(*entries: dict[str, Any], **rest: Any) -> Experiment:
        path = tmp_path / "made_up" / "experiment.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump({"permutations": 3, "algorithms": list(entries)} | rest, sort_keys=False))
        return recorded(path)

    return made_up
