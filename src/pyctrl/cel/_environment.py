"""Environments that compile expressions, and the compiled programs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pyctrl.cel._checker import Checker
from pyctrl.cel._cost_budget import PER_CALL_LIMIT, LongEvaluation, Patience
from pyctrl.cel._cost_estimator import estimate_cost
from pyctrl.cel._cost_planner import CostLimitExceeded, CostPlanner
from pyctrl.cel._declarations import DeclType
from pyctrl.cel._errors import COST_LIMIT_EXCEEDED, EvaluationFailed, compile_failed
from pyctrl.cel._expressions import Expression
from pyctrl.cel._library.addresses import ADDRESSES
from pyctrl.cel._library.arithmetic import ARITHMETIC, ORDER
from pyctrl.cel._library.authorizer import AUTHORIZATION
from pyctrl.cel._library.containers import COLLECTIONS, INSERTIONS, OPTIONALS
from pyctrl.cel._library.conversions import CONVERSIONS
from pyctrl.cel._library.lists import LISTS, SETS
from pyctrl.cel._library.named_formats import NAMED_FORMATS
from pyctrl.cel._library.quantities import QUANTITIES
from pyctrl.cel._library.semvers import SEMVERS
from pyctrl.cel._library.strings import STRINGS
from pyctrl.cel._library.times import TIMES
from pyctrl.cel._library.urls import URLS
from pyctrl.cel._literals import literal_issues
from pyctrl.cel._parser import parse
from pyctrl.cel._patch_types import PATCHES, patch_type
from pyctrl.cel._planner import Closure, Planner
from pyctrl.cel._signatures import Overload, overloads, read_type
from pyctrl.cel._types import Type

__all__ = ["Environment", "Program"]


@lru_cache(maxsize=1)
def _functions() -> dict[str, tuple[Overload, ...]]:
    return overloads(
        ARITHMETIC,
        ORDER,
        COLLECTIONS,
        CONVERSIONS,
        TIMES,
        OPTIONALS,
        INSERTIONS,
        STRINGS,
        LISTS,
        SETS,
        ADDRESSES,
        URLS,
        QUANTITIES,
        SEMVERS,
        NAMED_FORMATS,
        AUTHORIZATION,
    )


#: The types that expressions can name, as in `type(x) == int`.
TYPE_NAMES: Mapping[str, Type] = {
    **{name: read_type(name) for name in ("bool", "int", "uint", "double", "string", "bytes")},
    "list": read_type("list(dyn)"),
    "map": read_type("map(dyn, dyn)"),
    "null_type": read_type("null"),
    "type": read_type("type(dyn)"),
    "optional_type": read_type("optional_type(dyn)"),
    "google.protobuf.Timestamp": read_type("timestamp"),
    "google.protobuf.Duration": read_type("duration"),
    "net.IP": read_type("net.IP"),
    "net.CIDR": read_type("net.CIDR"),
}


class _PatchTypeNames(dict[str, Type]):
    """Names of types, with those of the messages of patches."""

    def get(self, name: str, default: Any = None) -> Any:
        found = super().get(name)
        return found if found is not None else patch_type(name) or default


class Program:
    """A compiled expression: its source `text` and the `type` of its value."""

    def __init__(self, text: str, expression: Expression, variables: tuple[str, ...]) -> None:
        planner = Planner(variables)
        self._variables = variables
        self._cost_plan: tuple[CostPlanner, Closure] | None = None  # made at first use
        self.text = text
        self.expression = expression
        self.type: Type = expression.type
        self._run: Closure = planner.plan(expression)
        self._size = planner.size
        self._used = planner.used

    def uses(self, name: str) -> bool:
        """Return whether the expression refers to a variable."""
        return name in self._used

    def estimate_cost(self, root: DeclType) -> int:
        """Return the maximum cost of an evaluation with variables of this type."""
        return estimate_cost(self.expression, root)

    def evaluate_with_cost(self, variables: Mapping[str, Any], patience: Patience | None = None) -> tuple[Any, int]:
        """Evaluate the expression; return the value, or the error of a failed evaluation, and the actual cost.

        Raises:
            LongEvaluation: The cost exceeds the patience, from which it is taken.
        """
        planner, run = self._costed()
        frame: list[Any] = [None] * planner.size
        frame[planner.cost] = 0
        frame[planner.limit] = PER_CALL_LIMIT if patience is None else min(patience.remaining, PER_CALL_LIMIT)
        value: Any = None
        try:
            for name, slot in planner.used.items():
                frame[slot] = variables[name]
            value = run(frame)
        except KeyError as error:
            value = EvaluationFailed(f"no such attribute(s): {error.args[0]}")
        except EvaluationFailed as failed:
            value = failed
        except CostLimitExceeded:
            if frame[planner.limit] < PER_CALL_LIMIT:
                raise LongEvaluation from None
            value = EvaluationFailed(COST_LIMIT_EXCEEDED)
        except RecursionError:
            value = EvaluationFailed("the value is nested too deeply")
        if patience is not None:
            patience.spend(frame[planner.cost])
        return value, frame[planner.cost]

    def _costed(self) -> tuple[CostPlanner, Closure]:
        if self._cost_plan is None:
            planner = CostPlanner(self._variables)
            self._cost_plan = planner, planner.plan(self.expression)
        return self._cost_plan

    def evaluate(self, variables: Mapping[str, Any]) -> Any:
        """Evaluate the expression with these variables.

        Raises:
            EvaluationFailed: The evaluation failed, or a variable of the expression is missing.
        """
        frame: list[Any] = [None] * self._size
        try:
            for name, slot in self._used.items():
                frame[slot] = variables[name]
        except KeyError as error:
            raise EvaluationFailed(f"no such attribute(s): {error.args[0]}") from error
        try:
            return self._run(frame)
        except RecursionError as error:
            raise EvaluationFailed("the value is nested too deeply") from error


class Environment:
    """Compiler of expressions over a set of variables.

    Args:
        variables: Name -> type of the variables that expressions may refer to.
        has_patch_types: Expressions may construct `Object{...}` and `JSONPatch{...}`.
    """

    def __init__(self, variables: Mapping[str, Type], *, has_patch_types: bool = False) -> None:
        self._variables = dict(variables)
        self._functions = {**_functions(), **overloads(PATCHES)} if has_patch_types else _functions()
        self._type_names = _PatchTypeNames(TYPE_NAMES) if has_patch_types else TYPE_NAMES

    def compile(self, text: str) -> Program:
        """Compile an expression.

        Raises:
            CompileFailed: It does not parse, does not type-check, or has an invalid constant.
        """
        return Program(text, self._checked(text), tuple(self._variables))

    def check(self, text: str) -> Type:
        """Return the type of an expression, which is not compiled further.

        Raises:
            CompileFailed: It does not parse, or does not type-check.
        """
        return self._checked(text).type

    def _checked(self, text: str) -> Expression:
        expression = parse(text)
        checker = Checker(self._variables, self._functions, self._type_names)
        checker.check(expression)
        issues = checker.issues or literal_issues(expression)
        if issues:
            raise compile_failed(issues, text)
        return expression
