"""CustomResourceDefinitions, made from the classes of their kinds."""

from __future__ import annotations

from typing import Any

from pyctrl.api import KubernetesObject, PrinterColumn, Scale
from pyctrl.errors import DefinitionError

from ._models import kind_schema
from ._places import Place, Problems
from ._schema import JSON, Schema, sort_keys

__all__ = ["definition"]

Kind = type[KubernetesObject]


def definition(*kinds: Kind, stored: Kind | None = None, conversion: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the CustomResourceDefinition of a kind, as JSON.

        definition(PodSet)
        definition(CronTabV1, CronTabV1Beta1, stored=CronTabV1)

    The types are the only source: the same types give the same definition, to the order of its keys.

    Args:
        kinds: the class of the kind; of several versions of a kind, the class of each.
        stored: the version that objects are stored in. By default the only one there is, or that with the class
            keyword ``stored``.
        conversion: ``spec.conversion``, such as `pyctrl.webhook.conversion_stanza` makes.

    Raises:
        DefinitionError: the types cannot be a definition; says everything that is wrong, where, and what to do.
    """
    problems = Problems()
    first = kinds[0]
    stored = stored or _stored(kinds, problems)
    versions = [_version(kind, problems, is_stored=kind is stored) for kind in kinds]
    _compare(kinds, problems)
    if problems.found:
        raise DefinitionError(first.gvk.kind, problems.found)
    spec: dict[str, JSON] = {
        "group": first.gvk.group,
        "names": _names(first),
        "scope": "Namespaced" if first.resource.namespaced else "Cluster",
        "versions": sorted(versions, key=lambda version: str(version["name"])),
    }
    if conversion is not None:
        spec["conversion"] = conversion
    return sort_keys(  # type: ignore[no-any-return]  # an object stays an object
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": _metadata(kinds),
            "spec": spec,
        }
    )


def _stored(kinds: tuple[Kind, ...], problems: Problems) -> Kind:
    if len(kinds) == 1:
        return kinds[0]
    said = [kind for kind in kinds if kind.resource.is_stored]
    if len(said) != 1:
        found = ", ".join(kind.gvk.version for kind in said) or "none"
        what = f"one version must be the stored one, and {found} is"
        problems.report(Place(kinds[0]), what, "use definition(stored=…)")
    return said[0] if said else kinds[0]


def _compare(kinds: tuple[Kind, ...], problems: Problems) -> None:
    """Report what the versions of a kind disagree in that they share."""
    first = kinds[0]
    for other in kinds[1:]:
        for what, left, right in (
            ("group and kind", first.gvk.group_kind, other.gvk.group_kind),
            ("names", _names(first), _names(other)),
            ("scope", first.resource.namespaced, other.resource.namespaced),
        ):
            if left != right:
                cure = f"all versions of a kind have the same {what}"
                problems.report(Place(other), f"its {what} are others than those of {first.__name__}", cure)


def _metadata(kinds: tuple[Kind, ...]) -> dict[str, JSON]:
    first = kinds[0]
    metadata: dict[str, JSON] = {"name": f"{first.resource.plural}.{first.gvk.group}"}
    for key in ("annotations", "labels"):
        if merged := {name: text for kind in kinds for name, text in getattr(kind.resource, key).items()}:
            metadata[key] = merged
    return metadata


def _names(kind: Kind) -> dict[str, JSON]:
    names: dict[str, JSON] = {
        "kind": kind.gvk.kind,
        "listKind": f"{kind.gvk.kind}List",
        "plural": kind.resource.plural,
        "singular": kind.resource.singular,
    }
    if kind.resource.short_names:
        names["shortNames"] = list(kind.resource.short_names)
    if kind.resource.categories:
        names["categories"] = list(kind.resource.categories)
    return names


def _version(kind: Kind, problems: Problems, *, is_stored: bool) -> dict[str, JSON]:
    resource = kind.resource
    schema = kind_schema(kind, problems)
    version: dict[str, JSON] = {
        "name": kind.gvk.version,
        "schema": {"openAPIV3Schema": schema.to_wire()},
        "served": resource.is_served,
        "storage": is_stored,
    }
    if resource.deprecation is not None:
        version["deprecated"] = True
        if resource.deprecation:
            version["deprecationWarning"] = resource.deprecation
    if subresources := _subresources(kind):
        version["subresources"] = subresources
    if resource.columns:
        version["additionalPrinterColumns"] = [_column(kind, column, schema, problems) for column in resource.columns]
    if resource.selectable_fields:
        version["selectableFields"] = [{"jsonPath": path} for path in resource.selectable_fields]
    return version


def _subresources(kind: Kind) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    if "status" in kind.resource.subresources:
        found["status"] = {}
    if kind.resource.scale is not None:
        found["scale"] = _scale(kind.resource.scale)
    return found


def _scale(scale: Scale) -> dict[str, str]:
    wire = {"specReplicasPath": scale.spec_replicas_path, "statusReplicasPath": scale.status_replicas_path}
    return wire | ({"labelSelectorPath": scale.label_selector_path} if scale.label_selector_path else {})


def _column(kind: Kind, column: PrinterColumn, schema: Schema, problems: Problems) -> dict[str, JSON]:
    wire: dict[str, JSON] = {"name": column.name, "jsonPath": column.json_path, "type": column.type or "string"}
    wire |= {key: text for key in ("format", "description") if (text := getattr(column, key))}
    return wire | ({"priority": column.priority} if column.priority else {})
