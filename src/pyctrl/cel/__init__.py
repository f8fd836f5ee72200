"""CEL expressions with Kubernetes' types, functions and messages: validation rules, match conditions, policies.

Compile an expression once and evaluate it often:

    environment = Environment({"self": map_of(STRING, INT)})  # the variables and their types
    program = environment.compile("self.size < 5")            # CompileFailed: str() is kube-apiserver's message
    program.type == BOOL                                      # the type of the result, which the caller checks
    program.uses("self")                                      # True: the expression refers to this variable
    program.evaluate({"self": {"size": 3}})                   # True; EvaluationFailed: str() is cel-go's message
    program.estimate_cost(declaration)                        # the maximum cost, by the limits of a schema

`MATCH_CONDITION` and `policy_variables` are the variables of admission, `DEVICE_SELECTOR` those of device selectors.
`schema_decl_type` returns the type of a CRD schema, and `value_reader` the function that converts an object's JSON for
it (timestamps, durations, bytes, sets).

Values are JSON's (dict, list, str, int, float, bool, None). Values of type `dyn` are used unchanged. Leave absent
fields out of a dict; None is CEL's `null`. `authorizer` is an `AuthorizerValue(decide)` and
`authorizer.requestResource` a `ResourceCheck(decide, AuthorizerAttributes(group=..., resource=..., ...))`, where
`decide` returns an `AuthorizerDecision`. Lazily computed values, such as a policy's `variables`, can be a dict subclass
with `__missing__` and `__contains__`.

The parser comes with the `cel` extra. Check `has_library()` first and report `NOT_INSTALLED` without it. This package
checks types and evaluates programs itself, because both depend on Kubernetes' types, functions and messages.
"""

from pyctrl.cel._admission import (
    MATCH_CONDITION,
    NAMESPACE,
    REQUEST,
    object_type,
    policy_variables,
    type_checking_variables,
)
from pyctrl.cel._cost_budget import (
    MATCH_CONDITIONS_BUDGET,
    PER_CALL_LIMIT,
    RUNTIME_BUDGET,
    SHORT_EVALUATION,
    CostBudget,
    LongEvaluation,
    OutOfBudget,
    Patience,
)
from pyctrl.cel._data import ValueReader, value_reader
from pyctrl.cel._declarations import DeclType, schema_decl_type
from pyctrl.cel._devices import DEVICE_SELECTOR
from pyctrl.cel._environment import Environment, Program
from pyctrl.cel._errors import COST_LIMIT_EXCEEDED, NO_OVERLOAD, CompileFailed, EvaluationFailed, InstantiationFailed
from pyctrl.cel._library.authorizer import AuthorizerAttributes, AuthorizerDecision, AuthorizerValue, ResourceCheck
from pyctrl.cel._parser import NOT_INSTALLED, has_library
from pyctrl.cel._patch_types import JSON_PATCH, OBJECT, go_formats, object_value_json, type_name_problems, value_json
from pyctrl.cel._shard_selectors import parse_shard_selector
from pyctrl.cel._types import BOOL, DYN, INT, NULL, STRING, Type, list_of, map_of, optional_of
from pyctrl.cel._values import NONE, ObjectValue, Optional, UnconvertedLiteral

__all__ = [
    "BOOL",
    "COST_LIMIT_EXCEEDED",
    "DEVICE_SELECTOR",
    "DYN",
    "INT",
    "JSON_PATCH",
    "MATCH_CONDITION",
    "MATCH_CONDITIONS_BUDGET",
    "NAMESPACE",
    "NONE",
    "NOT_INSTALLED",
    "NO_OVERLOAD",
    "NULL",
    "OBJECT",
    "PER_CALL_LIMIT",
    "REQUEST",
    "RUNTIME_BUDGET",
    "SHORT_EVALUATION",
    "STRING",
    "AuthorizerAttributes",
    "AuthorizerDecision",
    "AuthorizerValue",
    "CompileFailed",
    "CostBudget",
    "DeclType",
    "Environment",
    "EvaluationFailed",
    "InstantiationFailed",
    "LongEvaluation",
    "ObjectValue",
    "Optional",
    "OutOfBudget",
    "Patience",
    "Program",
    "ResourceCheck",
    "Type",
    "UnconvertedLiteral",
    "ValueReader",
    "go_formats",
    "has_library",
    "list_of",
    "map_of",
    "object_type",
    "object_value_json",
    "optional_of",
    "parse_shard_selector",
    "policy_variables",
    "schema_decl_type",
    "type_checking_variables",
    "type_name_problems",
    "value_json",
    "value_reader",
]
