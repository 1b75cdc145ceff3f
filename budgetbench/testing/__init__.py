"""The conformance suite: what a learner has to do to be run, resumed, drawn and compared. It needs no pytest.

>>> from budgetbench.learners import Perceptron
>>> from budgetbench.testing import check_learner
>>> check_learner(Perceptron)  # doctest: +SKIP

With pytest each check is a test of its own:

    @pytest.mark.parametrize("check", learner_checks(MyLearner), ids=str)
    def test_my_learner(check):
        check()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from budgetbench.engine.base import KernelClassifier
from budgetbench.foreign.learner import CHUNK, adapted
from budgetbench.testing import contract, estimators, misuse, sizes
from budgetbench.testing.cases import Case, parameter_sets

__all__ = ["Check", "check_learner", "learner_checks"]


@dataclass(frozen=True)
class Check:
    """One check of a learner with one set of its parameters; called, it raises an error where something is amiss."""

    about: Callable[[Case], None]
    case: Case

    def __call__(self) -> None:
        self.about(self.case)

    def __str__(self) -> str:
        return f"{self.about.__name__} {self.case.values}"


def check_learner(learner: type[Any], **parameters: Any) -> None:
    """Check all that holds for every learner.

    Parameters
    ----------
    learner : a class made with `@learner`, or an estimator as configurations name it, with `partial_fit`, `learn_one`
        or `fit`.
    parameters : those to check it with; by default every choice that a learner offers is tried, and of an estimator
        its own defaults.

    Raises
    ------
    AssertionError : with the name of the first check that failed, and its parameters; what went wrong is the cause.
    """
    for check in learner_checks(learner, **parameters):
        try:
            check()
        except Exception as error:
            raise AssertionError(f"{learner.__name__}: {check}: {error}") from error


def learner_checks(learner: type[Any], **parameters: Any) -> list[Check]:
    """The checks that `check_learner` makes."""
    if not issubclass(learner, KernelClassifier):
        case = Case(adapted(learner, learner.__qualname__), parameters)
        return [Check(about, case) for about in _checks_of_estimators(case)]
    cases = [Case(learner, values) for values in ([parameters] if parameters else parameter_sets(learner))]
    return [Check(about, case) for number, case in enumerate(cases) for about in _checks(case, first=not number)]


def _checks(case: Case, first: bool) -> Iterator[Callable[[Case], None]]:
    """The checks that suit a case; those of wrong use are made with one set of parameters."""
    yield contract.fitting_again_repeats_and_leaves_everything_as_it_was
    yield contract.read_only_and_odd_shaped_inputs_are_accepted
    yield contract.negated_labels_negate_every_decision_value
    yield contract.pickle_and_joblib_keep_it
    yield contract.parameters_are_scikit_learns
    yield contract.zero_rows_and_labels_of_any_kind_are_learnt
    yield contract.a_gram_matrix_and_a_stream_give_the_same
    yield contract.three_classes_are_learnt
    if not case.learner.multiclass:
        yield contract.one_against_the_rest_is_a_learner_for_each_class
    yield sizes.model_bytes_are_those_of_a_pickle_of_what_prediction_reads
    if case.expands:
        yield contract.the_support_set_is_what_the_decision_is_made_of
    if case.budget is not None:
        yield contract.the_budget_is_never_exceeded
        if case.online and case.values.get("evaluate") != "all":  # it is asked to keep every example
            yield sizes.a_budget_bounds_memory
    if case.online:
        yield contract.a_pickled_learner_goes_on_learning
        yield contract.counts_add_up
        yield contract.learning_in_parts_is_learning
        yield contract.it_goes_on_after_a_fit_of_several_passes
        yield contract.a_learner_does_not_notice_who_else_learns
        yield contract.three_classes_are_learnt_in_parts
        yield contract.three_classes_are_learnt_alike_however_the_stream_is_cut
        yield sizes.state_bytes_are_those_of_a_pickle_of_what_learning_goes_on_from
        yield sizes.sizes_do_not_depend_on_how_the_examples_came
    if first:
        yield misuse.unfitted_use_is_a_clear_error
        yield misuse.wrong_data_is_refused
        yield misuse.another_number_of_inputs_is_refused
        yield misuse.wrong_parameters_are_refused_when_fitting
        yield misuse.it_passes_scikit_learns_own_checks


def _checks_of_estimators(case: Case) -> Iterator[Callable[[Case], None]]:
    yield estimators.the_same_seed_gives_the_same
    yield estimators.inputs_and_labels_are_left_as_they_are
    yield estimators.labels_of_any_kind_are_learnt
    yield estimators.predicting_changes_nothing
    if case.learner.own_parameters().get("chunk") is CHUNK:
        yield estimators.each_example_is_predicted_before_it_is_learnt
    yield estimators.a_pickle_decides_alike
    yield estimators.three_classes_are_learnt_or_refused
    yield estimators.an_unknown_parameter_is_refused
