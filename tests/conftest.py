"""Real data, which is not part of the repository, and what holds for all tests."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support.browser import browser as browser

PROJECT = Path(__file__).resolve().parents[1]

# As in the runner: threads that wait for each other take minutes where cores are few. Read when libraries are loaded.
os.environ["OMP_NUM_THREADS"] = "1"

#: The same examples in every run: what is found does not depend on luck, nor on how busy the machine is.
settings.register_profile(
    "bounded",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
#: Others in each run, and many: --hypothesis-profile=thorough
settings.register_profile("thorough", settings.get_profile("bounded"), derandomize=False, max_examples=3000)
settings.load_profile("bounded")


@pytest.fixture(scope="session")
def mirror() -> str:
    """Folder or URL of the datasets' files: BUDGETBENCH_MIRROR, or the folder shared/data beside the project."""
    place = os.environ.get("BUDGETBENCH_MIRROR") or str(PROJECT.parent / "shared" / "data")
    if "://" not in place and not Path(place).is_dir():
        pytest.skip("needs real data: name a folder or URL that has it in BUDGETBENCH_MIRROR")
    return place


@pytest.fixture
def gram_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Gram matrix is made wherever memory allows, also where streams would cost less."""
    importlib.import_module("budgetbench.runner")
    monkeypatch.setattr(sys.modules["budgetbench.runner.run"], "gram_pays", lambda *_: True)
