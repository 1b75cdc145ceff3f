"""What every kernel is: a function of two inputs, the matrices of its values, and how it is registered."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.errors import ParameterError
from budgetbench.kernels.products import (
    Floats,
    Panel,
    Rows,
    Scratch,
    Values,
    tiles,
)
from budgetbench.parameters import Parameter, check, declared
from budgetbench.registry import Registry
from budgetbench.sparse import Inputs, floats

kernels: Registry[type[Kernel]] = Registry("kernel")

#: Kernel values between some rows and some columns, which begin with slices that say where they belong.
Tile = tuple[slice, slice, Floats]


@dataclass(frozen=True)
class Kernel(ABC):
    """A positive definite function K(x, z) of two inputs."""

    name: ClassVar[str]
    summary: ClassVar[str]
    #: Whether no value can be below 0.
    non_negative: ClassVar[bool] = False

    def __post_init__(self) -> None:
        own = declared(type(self))
        for name, value in check(own, {name: getattr(self, name) for name in own}).items():
            object.__setattr__(self, name, value)

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """What may be given to make one."""
        return declared(cls)

    @classmethod
    def made(cls, given: Mapping[str, Any]) -> Kernel:
        """The kernel of these parameters; `ParameterError` says all that is wrong with them."""
        return cls(**check(cls.parameters(), given))

    @classmethod
    def guessed(cls, inputs: int) -> dict[str, Any]:
        """Parameters to take where none are given, for so many inputs."""
        return {}

    @property
    def plain(self) -> dict[str, Any]:
        """Its name and parameters, as a configuration has them."""
        return {"name": self.name, **asdict(self)}

    @property
    def kind(self) -> Kernel:
        """A kernel of the same kind, whatever it leaves to the data."""
        return self

    def told_by(self, X: Inputs) -> Kernel:
        """This kernel, with a number for what it leaves to the training rows X (n, d)."""
        return self

    def matrix(self, X: Inputs, Z: Inputs, out: Floats | None = None) -> Floats:
        """Kernel values between the rows of X (n, d) and of Z (m, d), dense or sparse: float32 of shape (n, m).

        Raises
        ------
        NumericalError
            For values that are too large for float32.
        """
        X, Z = floats(X), floats(Z)
        if out is None:
            out = np.empty((len(X), len(Z)), dtype=np.float32)
        for rows, columns, tile in self.by_tile(X, Z):
            out[rows, columns] = tile
        return out

    def expansion(self, X: Inputs, support: Inputs, coefficients: Values) -> Values:
        """f(x) = Σ coefficients[s] K(support[s], x) for each row of X (n, d), added up in the order of s.

        Of shape (n,) for coefficients (m,), of shape (n, k) for coefficients (m, k). No value outlives its tile, so
        that memory does not grow with n m.
        """
        X, support = floats(X), floats(support)
        sums = np.zeros((math.prod(coefficients.shape[1:]), len(X)))
        terms = Terms.joined(len(support), [(np.arange(len(support)), coefficients)])
        add_up(self.by_tile(support, X), terms, sums)
        return np.ascontiguousarray(sums.T).reshape(len(X), *coefficients.shape[1:])

    def fitted_to(self, X: Inputs) -> Kernel:
        """This kernel, multiplied by a power of two where its values between such rows would leave float32.

        Raises
        ------
        NumericalError
            Where they would leave float64 too.
        """
        return self

    def least(self, X: Inputs) -> float:
        """A bound: no kernel value between rows of X but 0 is smaller in size; 0 where nothing is known."""
        return 0.0

    @abstractmethod
    def by_tile(self, X: Inputs, Z: Inputs) -> Iterator[Tile]:
        """Kernel values between the rows of X and of Z, a tile at a time, with its place; rows come in order.

        A tile is good until the next one comes.
        """

    @abstractmethod
    def row(self, x: Floats, Z: Floats) -> Values:
        """K(x, z) in float64 for each row of Z (m, d): of shape (m,).

        For what float32 cannot tell apart. Each value is added up in one order, whatever m is.
        """

    @abstractmethod
    def diagonal(self, X: Inputs) -> Floats:
        """K(x, x) for each row of X (n, d): float32 of shape (n,)."""


@dataclass(frozen=True)
class Tiled(Kernel):
    """A kernel whose values are computed in tiles, from inner products or distances in a fixed order."""

    def by_tile(self, X: Inputs, Z: Inputs) -> Iterator[Tile]:
        work, place = Scratch(), Scratch()
        for where, columns, rows, panel in tiles(X, Z):
            tile = place.tile(len(rows), len(panel), np.float32)
            self._fill(tile, rows, panel, work)
            yield where, columns, tile

    @abstractmethod
    def _fill(self, tile: Floats, rows: Rows, panel: Panel, scratch: Scratch) -> None:
        """Put the kernel values between n rows and the m columns of a panel into a tile of shape (n, m)."""


class Terms(NamedTuple):
    """What kernel values are multiplied with in several sums over stored examples.

    starts, outputs, coefficients : example s is in the sums outputs[starts[s]:starts[s + 1]], with these coefficients.
    """

    starts: NDArray[np.int64]
    outputs: NDArray[np.int64]
    coefficients: Values

    @classmethod
    def joined(cls, n: int, parts: Iterable[tuple[NDArray[np.int64], Values]]) -> Terms:
        """Those of parts with sums of their own: which of the n examples, and their coefficients, (m,) or (m, sums)."""
        examples, outputs, coefficients, width = [], [], [], 0
        for places, those in parts:
            weights = those.reshape(len(places), math.prod(those.shape[1:]))
            rows, columns = np.nonzero(weights)
            examples.append(places[rows])
            outputs.append(columns + width)
            coefficients.append(np.asarray(weights[rows, columns], dtype=np.float64))
            width += weights.shape[1]
        held = np.concatenate(examples)
        order = np.argsort(held, kind="stable")
        starts = np.searchsorted(held[order], np.arange(n + 1))
        return cls(starts, np.concatenate(outputs)[order], np.concatenate(coefficients)[order])


def add_up(tiles: Iterable[Tile], terms: Terms, sums: Values) -> None:
    """sums[k, j] += Σ a K(s, j) over the terms a of the sum k, in the order of the examples s.

    Parameters
    ----------
    tiles : kernel values between the examples and those that the columns stand for, as `Kernel.by_tile` gives them.
    """
    for examples, columns, tile in tiles:
        _add(
            tile,
            terms.starts[examples.start : examples.stop + 1],
            terms.outputs,
            terms.coefficients,
            sums,
            columns.start,
        )


@compiled
def _add(
    tile: Floats,
    starts: NDArray[np.int64],
    outputs: NDArray[np.int64],
    coefficients: Values,
    sums: Values,
    first: int,
) -> None:
    """sums[outputs[e], first + j] += coefficients[e] tile[s, j] for the terms e of each example s."""
    for s in range(len(tile)):
        row = tile[s]
        for e in range(starts[s], starts[s + 1]):
            f, coefficient = sums[outputs[e], first : first + len(row)], coefficients[e]
            for j in range(len(row)):
                f[j] += coefficient * row[j]


def make_kernel(name: str, **parameters: Any) -> Kernel:
    """The kernel of that name; parameters that are None take their defaults.

    Raises
    ------
    ParameterError
        For a name that no kernel has, or whatever `Kernel.made` refuses.
    """
    if name not in kernels:
        raise ParameterError("kernel", name, ", ".join(kernels), names=kernels)
    return kernels[name].made({key: value for key, value in parameters.items() if value is not None})
