"""Comparators: hypotheses g beside which theorems set a learner's mistakes on a stream.

A mistake bound holds for any g, and says the more the smaller ‖g‖ and D₁ are, the sum of hinge losses
max(0, 1 - yₜ g(xₜ)) over the stream. Neither depends on the order of the examples, so that one search serves all runs
that see the same labelled ones. What it finds is kept beside the runs (`results.comparators`): with it bounds can be
had where the data is not at hand.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from budgetbench.archive import data_identity, read_results
from budgetbench.compiled import compiled
from budgetbench.datasets import Cache
from budgetbench.engine.bounds import Comparators
from budgetbench.errors import RequestError
from budgetbench.kernels import Floats, Kernel, Values
from budgetbench.lazy import lazy
from budgetbench.results import Results, completed
from budgetbench.results.comparators import FILE, bounds_of, read_comparators, write_comparators
from budgetbench.sparse import Inputs, dense
from budgetbench.streams import load_problem, stream_of

__all__ = ["FILE", "make_comparators", "search"]

linalg = lazy("scipy.linalg")

#: Examples in whose span g lies: the first of the stream. Its losses are those on all.
LANDMARKS = 500
#: Directions of the span in which the landmarks are shorter, as a share of the longest, are left out.
SHORT = 2.0**-14
#: Passes over the stream for each C.
PASSES = 10
COSTS = 2.0 ** np.arange(-11, 5)
#: Norms to which each g is scaled; steps of a fifth.
NORMS = 2.0 ** np.arange(-1, 5.01, 0.25)
#: A kernel value in float32 is wrong by no more than this share of the largest K(x, x).
ROUNDING = 2.0**-22


def make_comparators(folder: Path, cache: Cache) -> int:
    """Look for comparators of the streams on which learners that have a bound ran, and write them beside the runs.

    Parameters
    ----------
    folder : of an experiment's results.
    cache : where its data is had from.

    Returns
    -------
    How many streams were searched: those whose comparators were not there.

    Raises
    ------
    RequestError : there are no results, or the data is not that of the runs.
    """
    results = read_results(folder)
    experiment, identity, before = results.experiment, data_identity(folder), read_comparators(folder)
    keys = {run: experiment.examples_key(identity, run) for run in _runs(results)}
    found = {key: before[key] for key in keys.values() if key in before}
    missing = {run: key for run, key in keys.items() if key not in found}
    data = None
    for run, key in missing.items():
        if data is None or experiment.dataset.inputs_differ:
            problem, data = load_problem(experiment, cache, run, data)
            if len(problem.classes) > 2:
                return 0
            if data.identity != identity and not experiment.dataset.redraw:
                raise RequestError(f"{folder}: the runs saw other data than there is now. Run the experiment again.")
        stream = stream_of(problem, experiment, run)
        y = np.where(stream.labels[stream.order] == 1, 1.0, -1.0)
        found[key] = search(experiment.kernel, problem.X[stream.order], y)
        write_comparators(folder, found)
    return len(missing)


def _runs(results: Results) -> list[int]:
    """The runs of learners that have a bound; one of those that see the same examples, none where kernels differ."""
    if results.experiment.kernel_grid:
        return []
    done = completed(results.trials)
    nothing = Comparators(np.zeros(1), np.ones(1), 1.0)
    entries = zip(done["run"], done["algorithm"], done["params"], strict=True)
    runs = sorted({int(run) for run, algorithm, params in entries if bounds_of(algorithm, params, nothing)})
    return runs if results.experiment.examples_differ else runs[:1]


def search(kernel: Kernel, X: Inputs, y: Values) -> Comparators:
    """Comparators for a stream of inputs X (n, d) with labels y (n,) of ±1: of each norm the g of the least loss.

    They are SVMs without bias in the span of some examples, for several C, scaled; the first is g = 0, of loss n. How
    good they are matters for how much a bound says, and not for whether it holds: of whatever g was found, neither norm
    nor loss is less than it should be.
    """
    kernel = kernel.fitted_to(X)
    square, first = float(kernel.diagonal(X).max()), X[:LANDMARKS]
    gram = np.array([kernel.row(x, dense(first)) for x in dense(first)])
    values, vectors = linalg.eigh(gram)
    long = values > SHORT * values[-1]
    basis = vectors[:, long] / np.sqrt(values[long])
    features = kernel.matrix(X, first) @ basis.astype(np.float32)
    lengths = np.einsum("ij,ij->i", features, features, dtype=np.float64)
    w, alpha, found = np.zeros(features.shape[1]), np.zeros(len(y)), []
    for C in COSTS:
        descend(features, lengths, y, alpha, w, C, PASSES)
        a = basis @ w
        norm = float(np.sqrt(a @ gram @ a))
        doubt = ROUNDING * square * np.abs(a).sum()
        if norm > 0:
            found.append((y * kernel.expansion(X, first, a) - doubt) / norm)
    losses = [min((np.maximum(0.0, 1 - norm * margins).sum() for margins in found), default=len(y)) for norm in NORMS]
    return Comparators(np.array([0.0, *NORMS]), np.array([len(y), *losses]), square)


@compiled
def descend(Z: Floats, lengths: Values, y: Values, alpha: Values, w: Values, C: float, passes: int) -> None:
    """Coordinate descent on the dual of ½‖w‖² + C Σ max(0, 1 - y w·z), from w = Σ yₜ αₜ zₜ on, with ‖zₜ‖² given.

    Hsieh, Chang, Lin, Keerthi, Sundararajan 2008 (ICML), *A dual coordinate descent method for large-scale linear SVM*.
    """
    for _ in range(passes):
        for t in range(len(y)):
            if lengths[t] > 0:
                z, margin = Z[t], 0.0
                for j in range(len(w)):
                    margin += w[j] * z[j]
                before = alpha[t]
                alpha[t] = min(max(before + (1 - y[t] * margin) / lengths[t], 0.0), C)
                change = y[t] * (alpha[t] - before)
                if change != 0.0:
                    for j in range(len(w)):
                        w[j] += change * z[j]
