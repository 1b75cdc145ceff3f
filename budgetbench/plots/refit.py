"""Learning the models of a recorded run once more, for figures that show more than a record holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from budgetbench.datasets import Cache
from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.errors import BudgetbenchError, ParameterError
from budgetbench.experiment import Experiment
from budgetbench.lazy import pd
from budgetbench.plots.base import NothingToDraw
from budgetbench.results import Results
from budgetbench.sparse import bare
from budgetbench.streams import LearningProblem, Stream, load_problem, make_learner, stream_of

RUN = 0
"""The run that is shown."""


@dataclass(frozen=True)
class Refit:
    """What the run shown learns from."""

    experiment: Experiment
    problem: LearningProblem
    stream: Stream

    def models(self, results: Results) -> Iterator[tuple[pd.Series[Any], Any]]:
        """The recorded trials of the run, in the configuration's order, each with its model.

        Raises
        ------
        NothingToDraw : a model is not the one whose result was recorded, as another version learnt that, or cannot be
            learnt in this one.
        """
        experiment, problem = self.experiment, self.problem
        X = problem.X[: problem.n_train]
        trials = results.trials[(results.trials["run"] == RUN) & results.trials["test_error"].notna()]
        with _or_nothing():
            own = experiment.dataset.inputs_differ  # no Gram matrix is made for inputs of one run
            among = {k: Streamed(k, X) if own else Gram(k.matrix(X, X), X) for k in experiment.kernels}
        for _, trial in trials.iterrows():
            _, params = experiment.parameter_sets[trial["point"]]
            with _or_nothing():
                model: Any = make_learner(experiment, trial["algorithm"], params, RUN, len(problem.classes))
                model.start(problem.classes, X.shape[1])
            model.learn(among[experiment.kernel_of(params)], self.stream.labels, self.stream.order)
            learnt, was = model.outcome().size, trial["support_size"]
            if learnt is not None and learnt != was:
                message = f"{trial['algorithm']} {trial['params']} now stores {learnt} examples, its record says {was}"
                raise NothingToDraw(f"{message}: run the experiment again with --fresh")
            yield trial, model

    def wrong(self, model: Any) -> int:
        """How many training examples a model gets wrong, with the labels it was given."""
        rows, problem = self.stream.order, self.problem
        return int(model.errs(bare(problem.X[rows]), self.stream.labels[rows]).sum())


def refit(results: Results, inputs: int) -> Refit:
    """The experiment of some results, its data and the stream of its first run.

    Parameters
    ----------
    inputs : how many inputs the data has to have; others are refused before anything is learnt.

    Raises
    ------
    NothingToDraw : the data is another, or cannot be had.
    """
    cache = Cache(os.environ.get("BUDGETBENCH_DATA", "data"), os.environ.get("BUDGETBENCH_MIRROR"), quiet=True)
    experiment = results.experiment
    with _or_nothing():
        problem, _ = load_problem(experiment, cache, RUN)
    if problem.X.shape[1] != inputs:
        raise NothingToDraw(f"{experiment.dataset.name} has {problem.X.shape[1]} inputs, this figure shows {inputs}")
    return Refit(experiment, problem, stream_of(problem, experiment, RUN))


@contextmanager
def _or_nothing() -> Iterator[None]:
    """Data that cannot be had, and what this version does not know of an experiment, leave nothing to draw."""
    try:
        yield
    except (BudgetbenchError, ParameterError) as error:
        raise NothingToDraw(f"its models cannot be learnt again: {error}") from error
