"""What several learners make of the same rows: a kernel value is computed once, however many of them need it.

Learners of a run store much the same examples. Where their decisions are made of sums over these (`Sums`), the rows
meet the union of all support sets in one product, and each value goes into the sums of all that store its example.
Terms are added up in the order in which a learner has its examples, so that a sum is to the last bit what it is alone;
who has the same examples in another order shares no product with the others.

Each is charged for what it would have needed alone: the values of its own support set, at the cost of one in the
product that was made for all, and its own terms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine import metering
from budgetbench.engine.base import KernelClassifier, Sums, wrong
from budgetbench.engine.kernel_access import KernelAccess, Rows
from budgetbench.engine.metering import Meter
from budgetbench.kernels import Values
from budgetbench.kernels.base import Terms, Tile, add_up
from budgetbench.sparse import bare

#: Rows whose sums are held at a time.
STRIP = 1 << 13

Labels = NDArray[np.int64]


class Predictions(NamedTuple):
    """What a learner makes of some rows.

    errs, averaged_errs : which its last hypothesis predicts wrong, and the mean of all where it keeps that.
    seconds : what `errs` took, or would have taken by itself.
    """

    errs: NDArray[np.bool_]
    averaged_errs: NDArray[np.bool_] | None
    seconds: float


def predictions(
    models: Sequence[KernelClassifier], access: KernelAccess, rows: Rows, labels: Labels, order: Rows
) -> list[Predictions]:
    """Let learners of one data set predict some of its rows.

    Parameters
    ----------
    labels : class indices of all rows of the data set.
    order : the rows that they have learnt from, as these arrived.
    """
    found: dict[int, Predictions] = {}
    expanding: dict[int, list[Sums]] = {}
    for place, model in enumerate(models):
        if sums := model.sums():
            expanding[place] = sums
        else:
            found[place] = _alone(model, bare(access.X[rows]), labels[rows])
    arrived = np.zeros(len(access.X), dtype=np.int64)
    arrived[order] = np.arange(len(order))
    supports = {place: sums[0].support for place, sums in expanding.items()}
    for places, union in in_common_order(supports, arrived, np.arange(len(access.X))):
        shared = _Shared(union, [expanding[place] for place in places])
        several = shared.predictions([models[place] for place in places], access, rows, labels)
        found.update(zip(places, several, strict=True))
    return [found[place] for place in range(len(models))]


def _alone(model: KernelClassifier, inputs: Any, labels: Labels) -> Predictions:
    begun = metering.clock()
    errs = model.errs(inputs, labels)
    seconds = metering.clock() - begun
    return Predictions(errs, model.averaged_errs(inputs, labels), seconds)


def in_common_order(supports: dict[int, Rows], *ranks: NDArray[np.int64]) -> Iterator[tuple[list[int], Rows]]:
    """Divide support sets into groups, each with its union in an order that all of the group have their examples in.

    Parameters
    ----------
    supports : row numbers of stored examples, by a number of each set.
    ranks : of each row its place in an order that sets may have; one that has none of these orders is a group.
    """
    left = dict(supports)
    for rank in ranks:
        alike = [number for number, support in left.items() if (np.diff(rank[support]) > 0).all()]
        if alike:
            union = np.unique(np.concatenate([left.pop(number) for number in alike]))
            yield alike, union[np.argsort(rank[union])]
    for number, support in left.items():
        yield [number], support


class _Shared:
    """Sums of several learners over the union of their support sets."""

    def __init__(self, union: Rows, hypotheses: Sequence[Sequence[Sums]]) -> None:
        self._union, self._hypotheses = union, hypotheses
        by_row = np.argsort(union)
        every = [one for sums in hypotheses for one in sums]
        places = [by_row[np.searchsorted(union, one.support, sorter=by_row)] for one in every]
        coefficients = [one.coefficients for one in every]
        self._terms = Terms.joined(len(union), zip(places, coefficients, strict=True))
        self._columns = np.cumsum([0] + [math.prod(one.shape[1:]) for one in coefficients])

    def predictions(
        self, models: Sequence[KernelClassifier], access: KernelAccess, rows: Rows, labels: Labels
    ) -> list[Predictions]:
        assert access.kernel is not None
        vectors = access.X[self._union]
        parts = []
        for start in range(0, len(rows), STRIP):
            strip = rows[start : start + STRIP]
            sums = np.zeros((self._columns[-1], len(strip)))
            values, begun = Meter(), metering.clock()
            add_up(_timed(access.kernel.by_tile(vectors, access.X[strip]), values), self._terms, sums)
            adding = metering.clock() - begun - values.seconds
            parts.append(self._told(models, sums, labels[strip], values.seconds, adding))
        return [_joined(strips) for strips in zip(*parts, strict=True)]

    def _told(
        self, models: Sequence[KernelClassifier], sums: Values, labels: Labels, values: float, adding: float
    ) -> list[Predictions]:
        """What the learners make of their sums for some rows, which took so many seconds of kernel values and terms."""
        found, columns = [], iter(zip(self._columns, self._columns[1:], strict=False))
        for model, hypotheses in zip(models, self._hypotheses, strict=True):
            shapes = [(len(labels), *one.coefficients.shape[1:]) for one in hypotheses]
            last, *means = [sums[slice(*next(columns))].T.reshape(shape) for shape in shapes]
            begun = metering.clock()
            errs = model.errs_of(last, labels)
            seconds = metering.clock() - begun
            coefficients = hypotheses[0].coefficients
            seconds += values * len(coefficients) / max(1, len(self._union))
            seconds += adding * int(np.count_nonzero(coefficients)) / max(1, len(self._terms.coefficients))
            found.append(Predictions(errs, wrong(means[0], labels) if means else None, seconds))
        return found


def _timed(tiles: Iterable[Tile], meter: Meter) -> Iterator[Tile]:
    """The same tiles, and how long they took to come."""
    ahead = iter(tiles)
    while True:
        with meter.computing():
            tile = next(ahead, None)
        if tile is None:
            return
        yield tile


def _joined(strips: Sequence[Predictions]) -> Predictions:
    averaged = [strip.averaged_errs for strip in strips if strip.averaged_errs is not None]
    return Predictions(
        np.concatenate([strip.errs for strip in strips]),
        np.concatenate(averaged) if averaged else None,
        sum(strip.seconds for strip in strips),
    )
