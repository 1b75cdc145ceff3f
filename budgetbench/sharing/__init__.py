"""What others need of results: references for a paper, and a pack that they can run and compare with."""

from __future__ import annotations

from budgetbench.sharing.citing import cite

__all__ = ["cite"]
