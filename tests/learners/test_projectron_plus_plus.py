"""The Projectron++ against a transcription of its rules that solves for the projection afresh each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetbench.errors import ParameterError
from budgetbench.learners import Perceptron, ProjectronPlusPlus, learners
from budgetbench.learners.projecting.common import matched_bound


@pytest.fixture
def twin(course: Any, projected: Any) -> Callable[..., Any]:
    """Orabona, Keshet, Caputo 2008, section 4.1; with a fixed η as in their paper of 2009."""

    def projectron_plus_plus(
        K: Any,
        y: Any,
        order: Any,
        bound_budget: int | None = None,
        U: float | None = None,
        eta: float | None = None,
        budget: int | None = None,
        progress: str = "fixed_cost",
        epochs: int = 1,
    ) -> Any:
        done, a = course(), {}  # example → aᵢ
        limit = np.inf if budget is None else budget
        matched = bound_budget if bound_budget is not None else budget
        bound = U
        if U is None and eta is None:
            bound = np.sqrt((matched + 1) / np.log(matched + 1)) / 4
        for epoch in range(epochs):
            for t in order:
                stored = list(a)
                f = float(K[stored, t] @ list(a.values()))
                margin = float(y[t] * f) if abs(f) > 1e-7 else 0.0
                if margin < 1:
                    loss, step = 1 - margin, 0.0
                    d, length2, delta2, within = projected(K, stored, t)
                    delta = np.sqrt(delta2)
                    if margin <= 0:
                        if eta is not None:
                            threshold = eta
                        elif U is None and bound_budget is None:
                            threshold = 0.0
                        else:
                            threshold = (2 * loss - length2 - 0.5) / (2 * bound)
                        if delta <= threshold or within or len(stored) >= limit:
                            step = 1.0
                        else:
                            a[t] = float(y[t])
                    elif eta is not None:
                        lost = delta / eta if delta > 0 else 0.0
                        if loss > lost:
                            step = min(loss / length2, 2 * (loss - lost) / length2, 1.0)
                    else:
                        tau = min(loss / length2, 1.0)
                        if progress == "printed":
                            beta = tau * (2 * loss - tau * length2 - 2 * bound * delta)
                        else:
                            beta = tau * (2 * loss - tau * length2) - 2 * bound * delta
                        if beta >= 0:
                            step = tau
                    if step:
                        a.update(zip(stored, np.array(list(a.values())) + y[t] * step * d, strict=True))
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(a))
        done.alpha = {i: y[i] * value for i, value in a.items()}
        return done

    return projectron_plus_plus


PARAMETERS: list[dict[str, Any]] = [
    {"bound_budget": 30},
    {"bound_budget": 30, "progress": "printed"},
    {"U": 0.7},
    {"U": 0.7, "progress": "printed"},
    {"U": 4.0, "epochs": 2},
    {"eta": 0.4},
    {"eta": 0.1, "budget": 12},
    {"budget": 12},
    {"budget": 3, "bound_budget": 20, "epochs": 2},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        agree(ProjectronPlusPlus, twin, problem(continuous_stream, seed), way, parameters, precise=True)


@pytest.mark.parametrize("parameters", [{"bound_budget": 200}, {"eta": 0.3}, {"budget": 90}], ids=str)
def test_agrees_over_several_batches_and_panels(
    agree: Any, problem: Any, twin: Any, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("budgetbench.learners.projecting.span.BATCH", 50)
    monkeypatch.setattr("budgetbench.learners.projecting.span.PANEL", 16)
    for way in ("gram", "blocks of 64", "fit"):
        done = agree(ProjectronPlusPlus, twin, problem("rbf", 3, n=700, noise=0.3), way, parameters, precise=True)
        assert done.sizes[-1] > 50


@pytest.mark.parametrize("parameters", [{"eta": 0.0}, {"U": 1e12}], ids=str)
def test_where_nothing_may_be_lost_it_is_the_perceptron(problem: Any, parameters: dict[str, Any]) -> None:
    data = problem("rbf", 4)
    model = ProjectronPlusPlus(**parameters, **data.kernel).fit(data.X, data.y)
    plain = Perceptron(**data.kernel).fit(data.X, data.y)
    assert model.support_.tolist() == plain.support_.tolist()
    np.testing.assert_allclose(model.coefficients_, plain.coefficients_, rtol=1e-9)
    np.testing.assert_allclose(model.margins_, plain.margins_, atol=1e-9)


def test_a_margin_error_stores_nothing(problem: Any) -> None:
    data = problem("rbf", 6, n=400)
    model = ProjectronPlusPlus(U=3.0, **data.kernel).fit(data.X, data.y)
    grown = np.flatnonzero(np.diff(model.sizes_, prepend=0))
    assert (model.margins_[grown] <= 0).all()
    assert np.count_nonzero(model.margins_ <= model.margin_threshold) > model.mistakes_


def test_a_budget_alone_matches_its_own_bound() -> None:
    random = np.random.default_rng(3)
    X, y = random.normal(size=(60, 8)), random.choice([-1, 1], 60)
    alone = ProjectronPlusPlus(budget=1000, gamma=4.0).fit(X, y)
    # Nothing is near the span here, so that the thresholds differ and the outcome does not.
    matched = ProjectronPlusPlus(U=matched_bound(1000), gamma=4.0).fit(X, y)
    assert alone.coefficients_.tolist() == matched.coefficients_.tolist()


def test_the_test_of_progress_needs_a_bound() -> None:
    with pytest.raises(ParameterError, match="progress"):
        ProjectronPlusPlus.checked({"eta": 0.1, "progress": "printed"})


def test_it_goes_by_its_name_in_the_paper() -> None:
    assert learners["projectron++"] is ProjectronPlusPlus
