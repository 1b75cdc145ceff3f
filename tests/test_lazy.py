"""Modules that are imported when they are first used."""

from __future__ import annotations

import os
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


def test_a_library_that_would_be_imported_later_has_one_thread_too() -> None:
    program = """
from threadpoolctl import threadpool_info
from budgetbench.lazy import one_thread
with one_thread():
    import scipy.linalg.blas, sklearn.svm
    assert {library["num_threads"] for library in threadpool_info()} == {1}
"""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
