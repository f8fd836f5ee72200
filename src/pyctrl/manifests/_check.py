"""Whether the API server would take a definition, asked without one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ._schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver import Examiner

__all__ = ["check_definition"]

_WITH_STATUS = frozenset(
    (
        *("description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
        *("maxLength", "minLength", "pattern", "maxItems", "minItems", "multipleOf", "required", "items", "properties"),
        *("externalDocs", "example", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"),
    )
)


def check_definition(definition: Mapping[str, Any]) -> list[str]:
    """Return what the API server has against a definition, in its words; nothing, when it would take it.

    The code is the embedded server's own. What it does not know of the rules of kube-apiserver: the cost of rules in
    CEL, which it does not estimate (docs/apiserver-definitions.md). Without the extra ``cel``, rules are not compiled.
    """
    complaints = _examiner().define(definition).complaints
    return [*map(str, complaints), *_roots(definition)]


@cache
def _examiner() -> Examiner:
    """Make one examiner for all definitions: what the server knows of definitions takes it a while to learn."""
    from pyctrl.apiserver import Examiner  # a server's code, for those who make definitions only

    return Examiner()


def _roots(definition: Mapping[str, Any]) -> Iterator[str]:
    """Say what a whole object's schema may not say beside the sub-resource status: it would hold for the status too."""
    for version in (definition.get("spec") or {}).get("versions") or ():
        root: Mapping[str, JSON] = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        found = sorted(set(root) - _WITH_STATUS)
        if found and "status" in (version.get("subresources") or {}):
            where = f"spec.versions[{version.get('name')}].schema.openAPIV3Schema"
            yield f"{where}: {', '.join(found)} must not be at the root if the status subresource is enabled"
