"""Modules that are imported when they are first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from budgetbench.lazy import lazy


def test_a_lazy_module_is_imported_by_what_is_asked_of_it() -> None:
    program = """
import sys
from budgetbench.lazy import lazy
module = lazy("wave")
assert "wave" not in sys.modules
assert module.open is sys.modules["wave"].open
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_it_has_what_the_module_has() -> None:
    import fractions

    assert lazy("fractions").Fraction is fractions.Fraction
    with pytest.raises(AttributeError, match="fractions"):
        _ = lazy("fractions").Friction
