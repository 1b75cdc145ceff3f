"""Which learners are tried, with which parameters, and how large each may be in a memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from budgetbench.engine.kernel_access import Streamed
from budgetbench.errors import BudgetbenchError, ParameterError
from budgetbench.experiment import Algorithm, Parameters
from budgetbench.kernels import RBF, Kernel
from budgetbench.lazy import one_thread
from budgetbench.learners import KernelClassifier, learners

#: What is tried of a parameter, the usual value first; a name means the same to every learner. One is varied at a time,
#: so that a learner with many is not tried much more often than one with few.
TRIED: dict[str, tuple[Any, ...]] = {
    "C": (1.0, 0.1, 10.0),
    "eta": (0.2, 0.05, 0.8),
    "lam": (1e-4, 1e-5, 1e-3),
}
#: What a learner needs to have a bounded size, or to be done with a long stream in a short time.
SETTINGS: dict[str, Parameters] = {
    "mira": {"size": "fixed"},
    "tighter_budget_perceptron": {"evaluate": "flips", "evaluation_size": 100},
}
#: Two sizes at which the bytes of a model are counted, and of how many examples it is made.
PROBES, PROBED = (32, 64), 400
#: A kernel so narrow that no example resembles another, and all are stored.
NARROW = RBF(gamma=1e6)
#: Factors of a width that are tried.
FACTORS = (1 / 16, 1 / 4, 1.0, 4.0)


def widths(kernels: Sequence[Kernel]) -> tuple[Kernel, ...]:
    """The kernels to try: those given where they are several, else of a width also others about it."""
    first = kernels[0]
    if len(kernels) > 1 or not isinstance(first, RBF):
        return tuple(kernels)
    return tuple(replace(first, gamma=float(f"{factor * first.gamma:.6g}")) for factor in FACTORS)


def candidates(
    memory: int, n_features: int, n_classes: int, n_examples: int, kernel: Kernel, names: Iterable[str] = ()
) -> list[Algorithm]:
    """The learners that can be bounded, each as large as the memory allows, with the parameter sets that are tried.

    Learners of two classes learn more of them one against the rest.

    Parameters
    ----------
    memory : bytes that a model may take.
    n_examples : how many it learns from; it is given no more room than for these.
    kernel : of its kind; learners that have no rule for it are left out.
    names : the learners to try; all when empty.
    """
    found = []
    for name in names or learners:
        cls = learners[name]
        size = size_parameter(cls)
        several = n_classes > 2 and not cls.multiclass
        if cls.batch or size is None or (several and not cls.against_the_rest):
            continue
        largest = min(n_examples, _largest(cls, size, memory, n_features, n_classes))
        # Of one against the rest it turns out how many examples its learners share.
        values = [largest // part for part in (1, 2, 4) if largest // part] if several else [largest][: largest >= 1]
        sets = [dict(params) for value in values for params in _sets(cls, {size: value}, kernel)]
        if sets:
            grid = {one: tuple(dict.fromkeys(params[one] for params in sets)) for one in sets[0]}
            found.append(Algorithm(learners.canonical(name), cls.revision, None, grid, tuple(sets)))
    return found


def size_parameter(cls: type[KernelClassifier]) -> str | None:
    """The parameter that bounds a learner: its budget, or what else counts what it keeps."""
    own = cls.own_parameters()
    counts = [one.name for one in own.values() if one.size and one.size.kept and "integer" in one.accepted]
    return "budget" if "budget" in own else next(iter(counts), None)


def _sets(cls: type[KernelClassifier], size: Mapping[str, int], kernel: Kernel) -> Iterator[Parameters]:
    own = cls.own_parameters()
    axes = {name: values for name, values in TRIED.items() if name in own and own[name].size is None}
    usual = {name: values[0] for name, values in axes.items()}
    for tried in ({}, *({name: value} for name, (_, *others) in axes.items() for value in others)):
        try:
            params = cls.checked({**usual, **SETTINGS.get(cls.name, {}), **size, **tried})
            cls.check_kernel(kernel, params)
        except ParameterError:
            continue
        yield params


def _largest(cls: type[KernelClassifier], size: str, memory: int, n_features: int, n_classes: int) -> int:
    """The largest size whose model fits, by what one more costs in models of two sizes; 0 where none does.

    No formula of any learner is needed: whatever it keeps grows with its size along a line.
    """
    try:
        small, large = (_bytes(cls, {size: value}, n_features, n_classes) for value in PROBES)
    except (ParameterError, BudgetbenchError):
        return 0
    each = (large - small) / (PROBES[1] - PROBES[0])
    return int((memory - small) // each) + PROBES[0] if each > 0 else 0


def _bytes(cls: type[KernelClassifier], size: Parameters, n_features: int, n_classes: int) -> int:
    """Of a model of this size that is full."""
    random = np.random.default_rng(0)
    X = random.standard_normal((PROBED, n_features)).astype(np.float32)
    model: KernelClassifier = cls(**{**SETTINGS.get(cls.name, {}), **size}, kernel=NARROW, random_state=0)
    if n_classes > 2 and not cls.multiclass and cls.against_the_rest:
        model = cls.against_the_rest(model)
    model.start(np.array([-1, 1]) if n_classes == 2 else np.arange(n_classes), n_features)
    with one_thread():
        model.learn(Streamed(NARROW, X), random.integers(0, n_classes, PROBED), np.arange(PROBED))
    return model.outcome().model_bytes or 0  # of none that is told no size follows
