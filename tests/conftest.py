"""Real data, which is not part of the repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def mirror() -> str:
    """Folder or URL of the datasets' files: BUDGETBENCH_MIRROR, or the folder shared/data beside the project."""
    place = os.environ.get("BUDGETBENCH_MIRROR") or str(PROJECT.parent / "shared" / "data")
    if "://" not in place and not Path(place).is_dir():
        pytest.skip("needs real data: name a folder or URL that has it in BUDGETBENCH_MIRROR")
    return place


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Products on one thread, as in the runner: threads that wait for each other take minutes where cores are few."""
    with threadpool_limits(1):
        yield
