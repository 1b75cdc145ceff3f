"""scikit-learn's conventions without scikit-learn, which takes long to import: it is, once something is learnt."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from typing_extensions import Self

from budgetbench.kernels.given import PRECOMPUTED
from budgetbench.lazy import lazy

metrics, sklearn_utils = lazy("sklearn.metrics"), lazy("sklearn.utils")
validation = lazy("sklearn.utils.validation")


class Estimator:
    """A dataclass whose fields are parameters: what `clone`, searches over grids and pipelines ask of a classifier."""

    #: Takes more than two classes as they are; another learner learns them one against the rest.
    multiclass: ClassVar[bool] = False
    kernel: Any
    _learnt: bool = False
    #: Who learns in its place where there are more classes than it takes.
    _stand_in: Any = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; `deep` makes no difference, as none of them has parameters of its own."""
        return {name: getattr(self, name) for name in sorted(field.name for field in fields(self))}  # type: ignore[arg-type]

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; they are checked when something is learnt."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for {self}. Valid parameters are: {list(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        said = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if value != usual[name])
        return f"{type(self).__name__}({said})"

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of the rows of X (n, d) whose class y (n,) is predicted."""
        return float(metrics.accuracy_score(y, self.predict(X), sample_weight=sample_weight))  # type: ignore[attr-defined]

    def __sklearn_is_fitted__(self) -> bool:
        return self._learnt

    def __sklearn_tags__(self) -> Any:
        return sklearn_utils.Tags(
            estimator_type="classifier",
            target_tags=sklearn_utils.TargetTags(required=True),
            classifier_tags=sklearn_utils.ClassifierTags(),
            input_tags=sklearn_utils.InputTags(sparse=True, pairwise=self.kernel == PRECOMPUTED),
        )
