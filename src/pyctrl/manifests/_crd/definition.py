"""CustomResourceDefinitions generated from the classes of kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyctrl.api import KubernetesObject
from pyctrl.manifests._crd.columns import columns_of, scale_of, selectable_of
from pyctrl.manifests._crd.server_errors import server_errors
from pyctrl.manifests._schema.builtin import is_builtin
from pyctrl.manifests._schema.locations import Location, Problems, definition_error
from pyctrl.manifests._schema.models import kind_schema
from pyctrl.manifests._schema.schema import JSON, Schema, sort_keys

__all__ = ["definition"]

Kind = type[KubernetesObject]


def definition(
    kind: Kind,
    *versions: Kind,
    stored: Kind | None = None,
    conversion: Mapping[str, Any] | None = None,
    is_installed: bool = True,
) -> dict[str, Any]:
    """Return the CustomResourceDefinition of a kind, as JSON.

        definition(PodSet)
        definition(CronTabV1, CronTabV1Beta1, stored=CronTabV1)

    The result depends on the types only, including the order of its keys. It has been checked as the API server would
    (`check_definition`).

    Args:
        kind: the class of the kind.
        versions: the classes of further versions of the kind.
        stored: the storage version. By default the only version, or the one with the class keyword ``stored``.
        conversion: ``spec.conversion``, such as `pyctrl.webhook.conversion_stanza` returns.
        is_installed: whether it is for a cluster. One that describes a kind to an extension API server may be of a
            group of Kubernetes, such as ``metrics.k8s.io``.

    Raises:
        DefinitionError: the types cannot be expressed as a definition; the message lists all problems, with their
            places and remedies.
    """
    problems = Problems()
    kinds = (kind, *versions)
    _check_kind(kinds, stored)
    stored = stored or _stored(kinds, problems)
    try:
        described = [_version(each, problems, is_stored=each is stored) for each in kinds]
    except RecursionError:
        what = "its types are nested too deeply"
        raise definition_error(kind.gvk.kind, (f"{Location(kind)}: {what}; remove a level",)) from None
    _compare(kinds, problems)
    if problems.found:
        raise definition_error(kind.gvk.kind, problems.found)
    spec: dict[str, JSON] = {
        "group": kind.gvk.group,
        "names": _names(kind),
        "scope": "Namespaced" if kind.resource.namespaced else "Cluster",
        "versions": sorted(described, key=lambda version: str(version["name"])),
    }
    if conversion is not None:
        spec["conversion"] = dict(conversion)
    made: dict[str, JSON] = sort_keys(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": _metadata(kinds),
            "spec": spec,
        }
    )
    if refused := list(server_errors(made, kinds, is_installed=is_installed)):
        raise definition_error(kind.gvk.kind, refused)
    return made


def _check_kind(kinds: tuple[Kind, ...], stored: Kind | None) -> None:
    """Report classes that are not custom kinds, before anything else is checked."""
    problems = Problems()
    for kind in kinds:
        if not hasattr(kind, "gvk"):
            problems.report(Location(kind), "it is not a kind", "give the class group= and version=")
        elif is_builtin(kind):
            problems.report(Location(kind), "it is built into Kubernetes", "define kinds of your own only")
    if stored is not None and stored not in kinds:
        problems.report(
            Location(stored), "it is the storage version, but not one of the versions", "add it to the versions"
        )
    if problems.found:
        raise definition_error(kinds[0].__name__, problems.found)


def _stored(kinds: tuple[Kind, ...], problems: Problems) -> Kind:
    if len(kinds) == 1:
        return kinds[0]
    marked = [kind for kind in kinds if kind.resource.is_stored]
    if len(marked) != 1:
        found = ", ".join(kind.gvk.version for kind in marked) or "none"
        what = f"exactly one version must be the storage version, but found {found}"
        problems.report(
            Location(kinds[0]), what, "give its class the keyword stored=True, or pass definition(stored=…)"
        )
    return marked[0] if marked else kinds[0]


def _compare(kinds: tuple[Kind, ...], problems: Problems) -> None:
    """Report differences between the versions of a kind where they must agree."""
    first = kinds[0]
    for other in kinds[1:]:
        for what, left, right in (
            ("group and kind", first.gvk.group_kind, other.gvk.group_kind),
            ("names", _names(first), _names(other)),
            ("scope", first.resource.namespaced, other.resource.namespaced),
        ):
            if left != right:
                cure = f"all versions of a kind have the same {what}"
                problems.report(Location(other), f"its {what} differ from those of {first.__name__}", cure)


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
    if subresources := _subresources(kind, schema, problems):
        version["subresources"] = subresources
    if resource.columns:
        version["additionalPrinterColumns"] = columns_of(kind, schema, problems)
    if resource.selectable_fields:
        version["selectableFields"] = selectable_of(kind, schema, problems)
    return version


def _subresources(kind: Kind, schema: Schema, problems: Problems) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    names = set(kind.resource.subresources)
    if "status" in names:
        found["status"] = {}
    if kind.resource.scale is not None:
        found["scale"] = scale_of(kind, kind.resource.scale, schema, problems)
    elif "scale" in names:
        problems.report(Location(kind), "the sub-resource scale has no paths", "pass scale=ScaleSubresource(…)")
    for name in sorted(names - {"scale", "status"}):
        problems.report(Location(kind), f"{name!r} is not a sub-resource of definitions", "use status or scale")
    return found
