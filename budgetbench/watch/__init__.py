"""A page on this machine alone that shows runs as they end."""

from __future__ import annotations

from budgetbench.watch.server import serve

__all__ = ["serve"]
