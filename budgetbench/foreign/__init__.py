"""Estimators of other packages as learners: any class that a configuration names as `module:Class`.

None of them has to know of this program. `classes` finds a class and what it takes, `drivers` knows the ways in which
one can be asked to learn and to predict, `features` are maps put before a linear one, and `learner` lets a stream pass
before it and keeps account, as for a learner of ours.
"""

from __future__ import annotations

from budgetbench.foreign.learner import ForeignLearner, foreign

__all__ = ["ForeignLearner", "foreign"]
