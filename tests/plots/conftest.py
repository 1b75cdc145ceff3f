"""Drawing a figure of made-up results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from budgetbench.plots import figures
from budgetbench.plots.base import Drawing, checked_plots
from budgetbench.plots.style import styled
from budgetbench.results import read_results


@pytest.fixture
def drawing() -> Callable[..., Drawing]:
    """Draws one figure of an experiment's folder: its kind, then its options."""

    def drawing(folder: Path, kind: str, **options: Any) -> Drawing:
        (spec,) = checked_plots([{"kind": kind, **options}])
        with styled():
            return figures[kind].draw(read_results(folder), spec)

    return drawing
