"""Compilation of validation rules."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._apiextensions.cel_compilation import CompilationResult, rule_node, self_decl_type
from pyctrl.apiserver._schema.schema import compile_structural

TEXT: dict[str, Any] = {"type": "string"}


def _compiled(**rule: Any) -> CompilationResult:
    declaration = self_decl_type(TEXT, "selfType", is_resource=False)
    assert declaration is not None
    return CompilationResult(rule, declaration)


def test_a_rule_is_a_bool_and_a_message_a_string() -> None:
    """Errors of the rule and of its messageExpression are reported separately."""
    assert _compiled(rule="self.size()").error == "cel expression must evaluate to a bool"
    result = _compiled(rule="self != ''", messageExpression="1")
    assert (result.error, result.message_error) == ("", "messageExpression must evaluate to a string")
    assert _compiled(rule="nix").error.startswith("compilation failed: ")


def test_a_transition_rule_uses_the_old_value() -> None:
    """With optionalOldSelf the old value is optional."""
    assert not _compiled(rule="self != ''").is_transition
    assert _compiled(rule="self == oldSelf").is_transition
    assert _compiled(rule="oldSelf.hasValue()", optionalOldSelf=True).error == ""


def test_only_nodes_with_rules_are_kept() -> None:
    """A branch of the schema without rules is not evaluated."""
    ruled = {**TEXT, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    schema = {"type": "object", "properties": {"a": TEXT, "b": ruled}}
    found = rule_node(schema, compile_structural(schema), "selfType")
    assert found is not None
    assert (list(found.properties), found.has_transitions) == (["b"], True)
    without = {"type": "object", "properties": {"a": TEXT}}
    assert rule_node(without, compile_structural(without), "selfType") is None
