"""Maps from inputs to features whose inner products come near the kernel, for linear estimators: scikit-learn's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from annotated_types import Ge, Le

from budgetbench.errors import ParameterError
from budgetbench.kernels import Kernel, Values
from budgetbench.lazy import lazy
from budgetbench.parameters import Parameter, Size, declared

approximations = lazy("sklearn.kernel_approximation")

#: More than fit into memory with what is made of them.
Components = Annotated[int, Ge(1), Le(100_000), Size(None)]


@dataclass(frozen=True, kw_only=True)
class FeatureMap(ABC):
    """A map, as a configuration asks for it.

    Parameters
    ----------
    n_components : how many features, or landmarks, there are.
    """

    n_components: Components

    @classmethod
    @abstractmethod
    def refuse(cls, kernel: Kernel) -> str:
        """The kernels that are accepted, in words, where this one is not; else nothing."""

    @abstractmethod
    def fitted(self, kernel: Kernel, first: Values, seed: int | None) -> Any:
        """scikit-learn's transformer, ready to transform.

        Parameters
        ----------
        first : the inputs with which the stream begins, `n_components` or all there are, of shape (n, d).
        """


@dataclass(frozen=True, kw_only=True)
class Nystroem(FeatureMap):
    """`sklearn.kernel_approximation.Nystroem`; its landmarks are the inputs with which the stream begins."""

    @classmethod
    def refuse(cls, kernel: Kernel) -> str:
        return "" if kernel.name in ("rbf", "polynomial", "linear") else "rbf, polynomial, linear"

    def fitted(self, kernel: Kernel, first: Values, seed: int | None) -> Any:
        words = {"kernel": kernel.name, **asdict(kernel)}
        return approximations.Nystroem(**words, n_components=len(first), random_state=seed).fit(first)


@dataclass(frozen=True, kw_only=True)
class RBFSampler(FeatureMap):
    """`sklearn.kernel_approximation.RBFSampler`: random Fourier features, which need no data."""

    @classmethod
    def refuse(cls, kernel: Kernel) -> str:
        return "" if kernel.name == "rbf" else "rbf"

    def fitted(self, kernel: Kernel, first: Values, seed: int | None) -> Any:
        gamma = asdict(kernel)["gamma"]
        return approximations.RBFSampler(gamma=gamma, n_components=self.n_components, random_state=seed).fit(first)


MAPS: dict[str, type[FeatureMap]] = {"nystroem": Nystroem, "rbf_sampler": RBFSampler}

#: What stands between a map and its parameter in a parameter set: `nystroem__n_components`.
JOINT = "__"

#: The parameters of all maps, by their names in a parameter set.
PARAMETERS: dict[str, Parameter] = {
    f"{name}{JOINT}{parameter.name}": replace(parameter, name=f"{name}{JOINT}{parameter.name}", default=None)
    for name, kind in MAPS.items()
    for parameter in declared(kind).values()
}


def map_of(params: dict[str, Any]) -> tuple[str, FeatureMap] | None:
    """The map that a parameter set asks for, with its name.

    Raises
    ------
    ParameterError : it asks for two.
    """
    wanted = [name for name in params if name in PARAMETERS]
    names = list(dict.fromkeys(name.split(JOINT)[0] for name in wanted))
    if len(names) > 1:
        raise ParameterError(wanted[-1], params[wanted[-1]], f"one map, and there is {names[0]}")
    if not names:
        return None
    own = {name.split(JOINT)[1]: params[name] for name in wanted}
    return names[0], MAPS[names[0]](**own)
