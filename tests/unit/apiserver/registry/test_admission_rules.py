"""Rules of webhooks and policies, and reserved names."""

from __future__ import annotations

from pyctrl.apiserver._registry.admission_rules import static_suffix_warnings, validate_rule

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["*"]}


def test_a_wildcard_stands_alone() -> None:
    """A wildcard beside other values is refused."""
    assert not list(validate_rule(RULE, "rules[0]"))
    (error,) = validate_rule({**RULE, "operations": ["*", "CREATE"]}, "rules[0]")
    assert error.field == "rules[0].operations"
    (error,) = validate_rule({**RULE, "resources": ["*/*", "pods"]}, "rules[0]")
    assert error.field == "rules[0].resources"


def test_names_of_static_configuration_are_reserved() -> None:
    """Such an object is accepted with a warning."""
    (warning,) = static_suffix_warnings({"metadata": {"name": "a.static.k8s.io"}})
    assert warning.startswith('metadata.name: names ending with ".static.k8s.io" are reserved')
    assert not list(static_suffix_warnings({"metadata": {"name": "a"}}))
