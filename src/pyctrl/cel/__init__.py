"""Expressions in CEL, as Kubernetes' validation rules, match conditions and admission policies have them.

Text becomes a program once and is evaluated often:

    environment = Environment(MATCH_CONDITION)             # or `policy_variables(...)`, or {name: type} of your own
    program = environment.compile("object.spec.size < 5")  # CompileFailed: str() is kube-apiserver's message
    program.type == BOOL                                   # what it gives; the caller says what it wants
    program.uses("authorizer")                             # does it mention this variable?
    program.evaluate({"object": {...}, ...})               # the value; EvaluationFailed: str() is cel-go's message

Values are JSON's (dict, list, str, int, float, bool, None); a value of type `dyn` is taken as it is. What is absent is
left out of a dict, not None. `authorizer` is `AuthorizerValue(decide)`, `authorizer.requestResource` is
`ResourceCheck(decide, Access(group=..., resource=..., ...))` with the function that decides. What is computed only when
it is asked for (`variables` of a policy) may be a dict with `__missing__` and `__contains__`.

The grammar is that of the `cel` extra: check `has_library()` first, and refuse with `NOT_INSTALLED` without it. Types
are checked and programs run by this package, because they have to know Kubernetes' types, functions and messages.
"""

from pyctrl.cel._admission import MATCH_CONDITION, NAMESPACE, REQUEST, object_type, policy_variables
from pyctrl.cel._data import Reader, value_reader
from pyctrl.cel._declarations import DeclType, schema_decl_type
from pyctrl.cel._environment import Environment, Program
from pyctrl.cel._errors import NO_OVERLOAD, CompileFailed, EvaluationFailed
from pyctrl.cel._library.authorizer import AuthorizerAttributes, AuthorizerDecision, AuthorizerValue, ResourceCheck
from pyctrl.cel._parser import NOT_INSTALLED, has_library
from pyctrl.cel._types import BOOL, DYN, INT, NULL, STRING, Type, list_of, map_of, optional_of
from pyctrl.cel._values import NONE, Optional

__all__ = [
    "BOOL",
    "DYN",
    "INT",
    "MATCH_CONDITION",
    "NAMESPACE",
    "NONE",
    "NOT_INSTALLED",
    "NO_OVERLOAD",
    "NULL",
    "REQUEST",
    "STRING",
    "AuthorizerAttributes",
    "AuthorizerDecision",
    "AuthorizerValue",
    "CompileFailed",
    "DeclType",
    "Environment",
    "EvaluationFailed",
    "Optional",
    "Program",
    "Reader",
    "ResourceCheck",
    "Type",
    "has_library",
    "list_of",
    "map_of",
    "object_type",
    "optional_of",
    "policy_variables",
    "schema_decl_type",
    "value_reader",
]
