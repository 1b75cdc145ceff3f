"""The command line: thin, and quick to start, as each command loads what it needs when it is called."""

from __future__ import annotations

from budgetbench.cli.app import main

__all__ = ["main"]
