"""What others need of results: references for a paper, and a pack that they can run and compare with."""

from __future__ import annotations

from budgetbench.sharing.citing import cite
from budgetbench.sharing.packing import Pack, Packed, pack, read
from budgetbench.sharing.reproducing import Difference, Reproduction, reproduced

__all__ = ["Difference", "Pack", "Packed", "Reproduction", "cite", "pack", "read", "reproduced"]
