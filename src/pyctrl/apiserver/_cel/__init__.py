"""Expressions in CEL, as Kubernetes' validation rules, match conditions and admission policies have them.

Text becomes a program once and is evaluated often:

    environment = Environment(MATCH_CONDITION)             # or `policy_variables(...)`, or {name: type} of your own
    program = environment.compile("object.spec.size < 5")  # CompileFailed: str() is kube-apiserver's message
    program.type == BOOL                                   # what it gives; the caller says what it wants
    program.uses("authorizer")                             # does it mention this variable?
    program.evaluate({"object": {...}, ...})               # the value; EvaluationFailed: str() is cel-go's message

Values are JSON's (dict, list, str, int, float, bool, None); a value of type `dyn` is taken as it is. What is absent is
left out of a dict, not None. `authorizer` is `Authorizer(decide)`, `authorizer.requestResource` is
`ResourceCheck(decide, Access(group=..., resource=..., ...))` with the function that decides. What is computed only when
it is asked for (`variables` of a policy) may be a dict with `__missing__` and `__contains__`.

The grammar is that of the `cel` extra: check `has_library()` first, and refuse with `NOT_INSTALLED` without it. Types
are checked and programs run by this package, because they have to know Kubernetes' types, functions and messages.
"""

from pyctrl.apiserver._cel._admission import MATCH_CONDITION, NAMESPACE, REQUEST, object_type, policy_variables
from pyctrl.apiserver._cel._authorization import Access, Authorizer, Decision, ResourceCheck
from pyctrl.apiserver._cel._environment import Environment, Program
from pyctrl.apiserver._cel._errors import CompileFailed, EvaluationFailed
from pyctrl.apiserver._cel._parser import NOT_INSTALLED, has_library
from pyctrl.apiserver._cel._rule_checks import uncompiled_rules, written_rules
from pyctrl.apiserver._cel._types import BOOL, DYN, INT, NULL, STRING, Type, list_of, map_of
from pyctrl.apiserver._cel._walk import KindRules, compile_rules

__all__ = [
    "BOOL",
    "DYN",
    "INT",
    "MATCH_CONDITION",
    "NAMESPACE",
    "NOT_INSTALLED",
    "NULL",
    "REQUEST",
    "STRING",
    "Access",
    "Authorizer",
    "CompileFailed",
    "Decision",
    "Environment",
    "EvaluationFailed",
    "KindRules",
    "Program",
    "ResourceCheck",
    "Type",
    "compile_rules",
    "has_library",
    "list_of",
    "map_of",
    "object_type",
    "policy_variables",
    "uncompiled_rules",
    "written_rules",
]
