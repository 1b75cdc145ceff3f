"""The points that f is made of, examples or not, and the examples that pass before them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled, record
from budgetbench.kernels import Floats, Values
from budgetbench.kernels.products import column_norms

#: The number of a point that is no example.
MERGED = -1


class Counts:
    """How many points there are, how many were stored and left so far, and how many rounds there were."""

    members: int
    insertions: int
    removals: int
    rounds: int


class Points(NamedTuple):
    """g(x) = Σ coefficients[p] K(zₚ, x), each point zₚ in a place of its own.

    Places that are free have the coefficient 0. As each sum goes over the places in order, f depends on what came
    alone and not on how it was cut.

    inputs : a column for each place, float32 of shape (d, places).
    norms, diagonal : ‖z‖² and K(z, z) of each point.
    coefficients : see above.
    examples : the number of the example that the point is, or `MERGED`.
    ages : how many were stored before it.
    taken : whether there is a point in a place.
    inverse : see `projection`; empty where it is not needed.
    counts : see there.
    """

    inputs: Floats
    norms: Values
    diagonal: Floats
    coefficients: Values
    examples: NDArray[np.int64]
    ages: NDArray[np.int64]
    taken: NDArray[np.bool_]
    inverse: Values
    counts: Counts

    @property
    def nbytes(self) -> int:
        """Of the points alone, without their numbers and ages, and places that are free."""
        n = int(self.counts.members)
        of_point = sum(array.nbytes for array in self[:4]) // max(1, len(self.taken))
        return n * of_point + (n * n * self.inverse.itemsize if self.inverse.size else 0)


class Passing(NamedTuple):
    """Examples that pass, in the order in which they do.

    inputs : a column for each, float32 of shape (d, n).
    norms, diagonal : ‖x‖² and K(x, x) of each.
    y : the labels ±1.
    numbers : by which they are known.
    K : kernel values with the point in each place, float32 of shape (n, places), right for those still to come.
    among : kernel values among them, float32 of shape (n, n).
    """

    inputs: Floats
    norms: Values
    diagonal: Floats
    y: Values
    numbers: NDArray[np.int64]
    K: Floats
    among: Floats


def no_points(n_features: int) -> Points:
    n, f = np.empty(0, dtype=np.int64), np.empty(0)
    inputs, diagonal = np.empty((n_features, 0), dtype=np.float32), np.empty(0, dtype=np.float32)
    return Points(inputs, f, diagonal, f, n, n, np.empty(0, dtype=np.bool_), np.empty((0, 0)), record(Counts))


def with_room(points: Points, places: int, invertible: bool) -> Points:
    """The same points with at least so many places."""
    more = max(0, places - len(points.taken))
    inputs = np.pad(points.inputs, ((0, 0), (0, more)))
    lists = [np.pad(each, (0, more)) for each in points[1:-2]]  # norms … taken
    inverse = np.pad(points.inverse, (0, more)) if invertible else points.inverse
    return Points._make([inputs, *lists, inverse, points.counts])


def by_age(points: Points) -> NDArray[np.int64]:
    """The places that are taken, that of the oldest point first."""
    places = np.flatnonzero(points.taken)
    return places[np.argsort(points.ages[places])]


@compiled
def value(points: Points, K: Floats) -> float:
    """g(x) from the kernel values between x and the point in each place."""
    total = 0.0
    for p in range(len(K)):
        total += points.coefficients[p] * K[p]
    return total


@compiled
def place_of(points: Points, number: int) -> int:
    """Where an example is, -1 where it is no point."""
    for p in range(len(points.taken)):
        if points.taken[p] and points.examples[p] == number:
            return p
    return -1


@compiled
def enter(points: Points, passing: Passing, i: int) -> int:
    """Make the i-th of the passing examples a point, with the coefficient 0 so far; returns its place."""
    place = 0
    while points.taken[place]:
        place += 1
    points.inputs[:, place] = passing.inputs[:, i]
    points.norms[place], points.diagonal[place] = passing.norms[i], passing.diagonal[i]
    points.examples[place], points.ages[place] = passing.numbers[i], points.counts.insertions
    points.taken[place] = True
    points.counts.members += 1
    points.counts.insertions += 1
    passing.K[:, place] = passing.among[i]
    return place


@compiled
def leave(points: Points, place: int) -> None:
    """Let a point go, and with it its share of g."""
    points.coefficients[place] = 0.0
    points.taken[place] = False
    points.counts.members -= 1
    points.counts.removals += 1


@compiled
def smallest(points: Points) -> int:
    """The place of the point with the smallest share a² K(z, z) of ‖g‖², of the oldest of equals."""
    best, least = -1, np.inf
    for p in range(len(points.taken)):
        if points.taken[p]:
            share = points.coefficients[p] ** 2 * points.diagonal[p]
            if share < least or (share == least and points.ages[p] < points.ages[best]):
                best, least = p, share
    return best


@compiled
def move(points: Points, place: int, z: Floats) -> None:
    """Put a point of an RBF kernel elsewhere; it is no example then."""
    points.inputs[:, place] = z
    points.norms[place] = column_norms(z.reshape(len(z), 1))[0]
    points.examples[place] = MERGED
