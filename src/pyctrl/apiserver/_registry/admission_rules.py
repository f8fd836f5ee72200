"""What webhooks and policies have in common: the rules that select writes, and reserved names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported, required
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["static_suffix_warnings", "validate_rule"]


_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")


def validate_rule(rule: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check a rule with operations."""
    operations = rule.get("operations") or []
    yield from _validate_wildcard(operations, f"{path}.operations", "operations")
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            yield not_supported(f"{path}.operations[{index}]", operation, _OPERATIONS)
    yield from _validate_wildcard(rule.get("apiGroups") or [], f"{path}.apiGroups", "API groups")
    versions = rule.get("apiVersions") or []
    yield from _validate_wildcard(versions, f"{path}.apiVersions", "API versions")
    for index, version in enumerate(versions):
        if not version:
            yield required(f"{path}.apiVersions[{index}]")
    yield from _validate_rule_resources(rule.get("resources") or [], f"{path}.resources")
    scope = rule.get("scope")
    if scope is not None and scope not in _SCOPES:
        yield not_supported(f"{path}.scope", scope, _SCOPES)


def _validate_wildcard(values: Sequence[str], path: str, items: str) -> Iterator[FieldError]:
    if not values:
        yield required(path)
    elif len(values) > 1 and "*" in values:
        yield invalid_value(path, values, f"if '*' is present, must not specify other {items}")


def _validate_rule_resources(resources: Sequence[str], path: str) -> Iterator[FieldError]:
    if not resources:
        yield required(path)
    whole, everywhere = set[str](), set[str]()  # x of each x/*, y of each */y
    names_resource = False
    for index, text in enumerate(resources):
        resource, slash, sub = text.partition("/")
        if not text:
            yield required(f"{path}[{index}]")
        if not slash:
            names_resource = text != "*" if text else names_resource  # as upstream, the last one decides
            continue
        if resource in whole:
            yield invalid_value(f"{path}[{index}]", text, f"if '{resource}/*' is present, must not specify {text}")
        if sub in everywhere:
            yield invalid_value(f"{path}[{index}]", text, f"if '*/{sub}' is present, must not specify {text}")
        if sub == "*":
            whole.add(resource)
        if resource == "*":
            everywhere.add(sub)
    if len(resources) > 1 and "*/*" in resources:
        yield invalid_value(path, resources, "if '*/*' is present, must not specify other resources")
    if "*" in resources and names_resource:
        why = "if '*' is present, must not specify other resources without subresources"
        yield invalid_value(path, resources, why)


_STATIC_SUFFIX = ".static.k8s.io"


def static_suffix_warnings(obj: Mapping[str, JSON]) -> Iterator[str]:
    """Warn of a name that is reserved for configuration in files of the server."""
    if obj["metadata"].get("name", "").endswith(_STATIC_SUFFIX):
        yield (
            f'metadata.name: names ending with "{_STATIC_SUFFIX}" are reserved for static manifest-based '
            "configurations and cannot be managed via the API"
        )
