"""From `module:Class` to a class that can be driven, with its parameters as its constructor declares them."""

from __future__ import annotations

import importlib
import os
import sys
from inspect import Parameter as Argument
from inspect import signature
from typing import Annotated, Any

from budgetbench.engine.base import KernelClassifier
from budgetbench.errors import ParameterError, Words, nearest
from budgetbench.foreign.drivers import DRIVERS, Driver
from budgetbench.parameters import Accepted, Parameter, Size

WANTED = "a class as module:Class, such as sklearn.linear_model:SGDClassifier"
#: What a constructor may call the seed of its randomness.
SEEDS = ("random_state", "seed")
#: What a constructor may call how much the model keeps: results that differ in it alone make a line of a figure.
KEPT = ("n_components", "budget")

_NAMED = {Argument.POSITIONAL_OR_KEYWORD, Argument.KEYWORD_ONLY}


def imported(name: str) -> type[Any]:
    """The class of that name, out of an installed package or a module in the current folder.

    Raises
    ------
    ParameterError : there is none, with the reason.
    """
    module_name, colon, attributes = name.partition(":")
    if not (colon and module_name and attributes.isidentifier()):
        raise ParameterError("estimator", name, WANTED)
    if os.getcwd() not in sys.path:  # as for `python -m`, which a program that is installed is not
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever the module does while it is imported
        found = f"{type(error).__name__}: {error}".splitlines()[0]
        hint = f"Importing it says: {found}. Is its package installed in this environment, or in the current folder?"
        raise ParameterError("estimator", name, "a module that can be imported", hint) from None
    kind = getattr(module, attributes, None)
    if not isinstance(kind, type):
        public = [public for public, item in vars(module).items() if isinstance(item, type)]
        accepted = f"a class of the module {module_name}"
        raise ParameterError("estimator", name, accepted, nearest(attributes, public))
    if issubclass(kind, KernelClassifier):
        hint = f"Call it by its name: {getattr(kind, 'name', kind.__name__)}."
        raise ParameterError("estimator", name, "a class of another package than budgetbench's learners", hint)
    return kind


def driver_of(kind: type[Any], name: str) -> type[Driver]:
    """How a class is driven; `ParameterError` where it has not the methods."""
    for driver in DRIVERS:
        if driver.suits(kind):
            return driver
    accepted = "a class with " + ", or ".join(driver.methods for driver in DRIVERS)
    raise ParameterError("estimator", name, accepted)


def arguments(kind: type[Any]) -> dict[str, Parameter] | None:
    """What a class' constructor takes by name; None where it takes any name, or does not tell, which is the same."""
    try:
        told = signature(kind).parameters.values()
    except (TypeError, ValueError):  # of a class that is no Python
        return None
    if any(argument.kind is Argument.VAR_KEYWORD for argument in told):
        return None
    accepted = Accepted(f"what {kind.__name__} takes")
    return {
        argument.name: Parameter(
            argument.name,
            Annotated[Any, accepted, Size(None)] if argument.name in KEPT else Annotated[Any, accepted],
            ... if argument.default is Argument.empty else argument.default,
        )
        for argument in told
        if argument.kind in _NAMED
    }


def constructed(kind: type[Any], given: dict[str, Any]) -> Any:
    """An instance with these parameters, which nobody has changed or will.

    Raises
    ------
    ParameterError : the class does not accept them, or makes no classifier.
    """
    try:
        made = kind(**given)
        if hasattr(made, "_parameter_constraints"):  # scikit-learn's own check, which it makes when learning begins
            made._validate_params()
    except Exception as error:  # whatever a constructor raises
        said = " ".join(str(error).split())
        name = next((name for name in given if f"'{name}'" in said), "estimator")
        found = given.get(name, Words(kind.__name__))
        hint = f"{kind.__name__} says: {type(error).__name__}: {said}"
        raise ParameterError(name, found, f"what {kind.__name__} takes", hint) from None
    purpose = made.__sklearn_tags__().estimator_type if hasattr(made, "__sklearn_tags__") else None
    if purpose not in (None, "classifier"):
        raise ParameterError("estimator", Words(f"a {purpose}"), "a classifier")
    return made
