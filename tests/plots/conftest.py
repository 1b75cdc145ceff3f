"""Drawing a figure of made-up results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from budgetbench.archive import read_results
from budgetbench.plots import figures
from budgetbench.plots.base import Drawing
from budgetbench.plots.style import styled


@pytest.fixture
def drawing() -> Callable[..., Drawing]:
    """Draws one figure of an experiment's folder: its kind, then its options."""

    def drawing(folder: Path, kind: str, **options: Any) -> Drawing:
        with styled():
            return figures[kind].drawn(read_results(folder), figures[kind].checked(options))

    return drawing
