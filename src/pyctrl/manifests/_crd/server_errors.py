"""The API server's errors for a definition, located at the class and field that they come from."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, RootModel

from pyctrl.api import KubernetesObject
from pyctrl.manifests._schema.annotations import AnnotatedType, annotated_type, field_metadata
from pyctrl.manifests._schema.discriminated_unions import models_of
from pyctrl.manifests._schema.locations import Location
from pyctrl.manifests._schema.map_keys import is_key_rule
from pyctrl.manifests._schema.schema import JSON
from pyctrl.manifests._schema.wire_names import wire_names

if TYPE_CHECKING:
    from pyctrl.apiserver import OfflineValidator, ValidationProblem

__all__ = ["check_definition", "field_errors_of", "server_errors"]


_ROOT = re.compile(r"^spec\.(?:validation|versions\[(?P<index>\d+)\]\.schema)\.openAPIV3Schema")
_STEP = re.compile(r"\.properties\[(?P<name>[^\]]*)\]|\.(?P<items>items)|\.(?P<values>additionalProperties)")
_CURES: Mapping[str, str] = MappingProxyType(
    {
        "default": "give the field a valid default, or keep it in Python with NoServerDefault()",
        "rule": "fix the ValidationRule",
        "messageExpression": "fix the message_expression of the ValidationRule",
        "pattern": "write it for Go (RE2), which has no look-around and no back-references",
        "nullable": "remove None from the type",
        "x-kubernetes-map-type": "give the class of the items marks=(MapType('atomic'),), or use a list",
    }
)
_INT64 = 2**63


_APPROVAL = "metadata.annotations[api-approved.kubernetes.io]"


def server_errors(
    made: Mapping[str, JSON], kinds: Sequence[type[KubernetesObject]], *, is_installed: bool = True
) -> Iterator[str]:
    """Yield the errors of a definition that was generated from these kinds, each with its place in Python.

    Only one that is installed needs the approval of a group of Kubernetes.
    """
    ordered = sorted(kinds, key=lambda kind: kind.gvk.version)
    for path, message in (*_numbers(made), *_costs(made)):
        yield _located(path, message, ordered)
    for error in field_errors_of(made):
        if error.field == _APPROVAL and not is_installed:
            continue
        yield _located(error.field, f"the API server would reject it: {error}", ordered)


def _located(path: str, message: str, kinds: Sequence[type[KubernetesObject]]) -> str:
    """Return a message with the place in Python that a path refers to, and the remedy."""
    root = _ROOT.match(path)
    if root is None:
        return message
    place = _place(kinds[int(root["index"] or 0)], path[root.end() :])
    last = re.sub(r"\[\d+\]$", "", path.rpartition(".")[2])
    return f"{place}: {message}" + (f"; {_CURES[last]}" if last in _CURES else "")


def _place(kind: type[KubernetesObject], path: str) -> Location:
    """Return the last place on a schema path that is a class or a field in Python."""
    place, part = Location(kind), AnnotatedType(kind)
    for step in _STEP.finditer(path):
        models = list(models_of(part))
        if (name := step["name"]) is not None:
            found = [(cls, field) for cls in models for field, wire in wire_names(cls).items() if wire == name]
            if not found:
                break
            cls, field = found[0]
            place = Location(cls, field=field)
            part = annotated_type(cls.model_fields[field].annotation, field_metadata(cls.model_fields[field]))
        elif args := get_args(part.type) or [arg for cls in models for arg in _root_args(cls)]:
            part, place = annotated_type(args[-1 if step["values"] else 0]), place.part("[]" if step["items"] else "{}")
        else:
            break
    return place


def _root_args(cls: type[BaseModel]) -> tuple[Any, ...]:
    return get_args(annotated_type(cls.model_fields["root"].annotation).type) if issubclass(cls, RootModel) else ()


# -- unreadable numbers, and rules that cost too much --------------------------------------------------


def _schemas(made: Mapping[str, JSON]) -> Iterator[tuple[str, Mapping[str, JSON], tuple[Mapping[str, JSON], ...]]]:
    """Yield all schemas of a definition: the path, the schema, and the lists and maps around it."""
    for index, version in enumerate(made["spec"]["versions"]):
        yield from _below(f"spec.versions[{index}].schema.openAPIV3Schema", version["schema"]["openAPIV3Schema"], ())


def _below(
    path: str, schema: Mapping[str, JSON], around: tuple[Mapping[str, JSON], ...]
) -> Iterator[tuple[str, Mapping[str, JSON], tuple[Mapping[str, JSON], ...]]]:
    yield path, schema, around
    for name, each in schema.get("properties", {}).items():
        yield from _below(f"{path}.properties[{name}]", each, around)
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from _below(f"{path}.{key}", schema[key], (*around, schema))


def _numbers(made: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    for path, schema, _ in _schemas(made):
        for key in ("default", "enum", "example", "minimum", "maximum", "multipleOf"):
            for number in _located_in(schema.get(key)):
                if not math.isfinite(number):
                    yield f"{path}.{key}", f"{key} is {number}, which JSON cannot represent"
                elif isinstance(number, int) and key in ("default", "enum") and not -_INT64 <= number < _INT64:
                    yield f"{path}.{key}", f"{key} is {number}, which does not fit into 64 bits"


def _located_in(value: JSON) -> Iterator[int | float]:
    if isinstance(value, (int, float)):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _located_in(each)


def _costs(made: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    """Yield generated rules that kube-apiserver estimates as too costly: over unbounded maps inside lists or maps.

    Tested with kube-apiserver 1.36: rules over the keys of a single unbounded map are accepted, and so are those of a
    thousand maps with a hundred entries each.
    """
    for path, schema, around in _schemas(made):
        if not around or not any(is_key_rule(rule["rule"]) for rule in schema.get("x-kubernetes-validations", ())):
            continue
        if all("maxItems" in each or "maxProperties" in each for each in (*around, schema)):
            continue
        cure = "give it, and each list and map around it, Field(max_length=…), or use dict[str, …]"
        yield (
            path,
            f"checking the keys of a map inside of a list or map costs the server too much without bounds; {cure}",
        )


def check_definition(definition: Mapping[str, Any]) -> list[str]:
    """Return the errors that the API server would report for a definition; empty if it would accept it.

    The code is the embedded server's own. Unlike kube-apiserver it does not estimate the cost of CEL rules
    (docs/apiserver-definitions.md). Without the extra ``cel``, rules are not compiled.
    """
    return [str(error) for error in field_errors_of(definition)]


def field_errors_of(definition: Mapping[str, Any]) -> tuple[ValidationProblem, ...]:
    """Return the errors of `check_definition`, each with its path."""
    return _examiner().define(definition).problems


@cache
def _examiner() -> OfflineValidator:
    """Return the validator of all definitions; it is shared because it takes long to build."""
    from pyctrl.apiserver import OfflineValidator  # here: only programs that generate definitions import a server

    return OfflineValidator()
