"""Update rules: the coefficient of an example that is stored (Weston, Bordes, Bottou 2005, Figure 2).

perceptron    α = 1
mira          α = min(1, max(0, (β - y f(x)) / K(x, x)));  the figure prints the case β = 0
no_bias_svm   α = min(C, max(0, (1 - y f(x)) / K(x, x)))

with f as it is after the removal that made room. In later epochs an example may come that is stored already. The last
two rules then set its coefficient anew, from f without its own share, which for no_bias_svm is one step of dual
coordinate ascent (Kecman, Vogt, Huang 2003); an example left with α = 0 is discarded. The Perceptron adds 1 to it.
"""

from __future__ import annotations

from typing import Literal

from budgetbench.compiled import compiled
from budgetbench.engine.certain import arriving_value, rounding
from budgetbench.engine.expansion import Block, Expansion, discard, slot_of, store
from budgetbench.errors import ParameterError

UpdateRule = Literal["perceptron", "mira", "no_bias_svm"]

#: Numbers for the compiled loops.
RULES = {"perceptron": 0, "mira": 1, "no_bias_svm": 2}
PERCEPTRON, MIRA, NO_BIAS_SVM = 0, 1, 2


#: The margin that calls for an update where none is given; MIRA's is that of Crammer, Kandola and Singer 2003.
BETAS = {"perceptron": 0.0, "mira": 0.01, "no_bias_svm": 1.0}


def margin_of(beta: float | None, rule: str, variable: bool = False) -> float:
    """β as given, or the rule's own; a cache of variable size needs one above 0, and has MIRA's by default.

    Raises
    ------
    ParameterError
        For β = 0 where nothing could then be learnt: MIRA would give the first example the coefficient 0 and so never
        store any, and a cache of variable size would discard every example at once.
    """
    if beta is None:
        return BETAS["mira"] if variable and rule == "perceptron" else BETAS[rule]
    if beta == 0 and (variable or rule == "mira"):
        raise ParameterError("beta", beta, f"a number above 0 with {'size: variable' if variable else 'update: mira'}")
    return beta


@compiled
def is_due(f: Expansion, i: int, rule: int, margin: float, beta: float) -> bool:
    """Whether an example is to be updated: on a margin error, and under the SVM's rule whenever it is stored."""
    return margin <= beta or (rule == NO_BIAS_SVM and f.stored[i])


@compiled
def update(f: Expansion, block: Block, i: int, rule: int, beta: float, C: float) -> None:
    """Give example i the coefficient that the rule says, storing or discarding it as needed."""
    y = block.y[i]
    alpha = 0.0
    if f.stored[i]:
        alpha = y * f.coefficients[slot_of(f, i)]
    if rule == PERCEPTRON:
        step = 1.0
    else:
        target, bound = (beta, 1.0) if rule == MIRA else (1.0, C)
        missing = target - y * arriving_value(f, block, i)
        if abs(missing) <= rounding(f, block, i):
            missing = 0.0
        step = min(bound, max(0.0, alpha + missing / block.diagonal[i])) - alpha
    if step != 0.0:
        if alpha > 0.0 and step == -alpha:
            discard(f, block, slot_of(f, i))
        else:
            store(f, block, i, y * step)
