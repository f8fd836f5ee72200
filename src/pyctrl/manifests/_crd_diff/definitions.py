"""Comparison of two revisions of a definition: changes that break stored objects or clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from pyctrl.manifests._crd_diff.changes import DefinitionChange, Effect
from pyctrl.manifests._crd_diff.schemas import schema_changes

__all__ = ["compare_definition_sets", "compare_definitions"]

Definition: TypeAlias = Mapping[str, Any]
Found: TypeAlias = Iterator[DefinitionChange]
Report: TypeAlias = Callable[[Effect, str, str, str], DefinitionChange]

_ORDER: dict[Effect, int] = {"breaking": 0, "risky": 1, "harmless": 2}


def compare_definitions(old: Definition, new: Definition) -> tuple[DefinitionChange, ...]:
    """Return the changes between two revisions of a definition, in wire form; breaking ones come first.

    No cluster is used. The versions that objects are stored in are those in `status.storedVersions` of the old
    revision, or its storage version if it has no status (a file).

    If an object is valid under the old revision, and would be rejected or lose a field under the new one, then at least
    one change is reported that is not harmless. The reverse is not guaranteed: two different patterns or rules are
    assumed to reject different values.
    """
    found = [*_names(old, new), *_versions(old, new), *_conversion(old, new)]
    return tuple(sorted(found, key=lambda change: _ORDER[change.effect]))


def compare_definition_sets(
    old: Iterable[Definition], new: Iterable[Definition]
) -> dict[str, tuple[DefinitionChange, ...]]:
    """Return the changes between two sets of definitions, matched by name; removing one breaks all of its objects.

    If each set has a single definition, these are compared regardless of their names.
    """
    before, after = ({each["metadata"]["name"]: each for each in some} for some in (old, new))
    if len(before) == len(after) == 1:
        (name, one), (_, other) = next(iter(before.items())), next(iter(after.items()))
        return {name: compare_definitions(one, other)}
    gone = DefinitionChange(
        effect="breaking",
        code="definition-removed",
        path="metadata.name",
        message="the definition is gone: deleting it deletes every object of its kind",
    )
    come = DefinitionChange(
        effect="harmless", code="definition-added", path="metadata.name", message="the definition is new"
    )
    return {
        name: (gone,)
        if name not in after
        else (come,)
        if name not in before
        else compare_definitions(before[name], after[name])
        for name in sorted({*before, *after})
    }


def _report(effect: Effect, code: str, path: str, message: str, version: str = "") -> DefinitionChange:
    return DefinitionChange(effect=effect, code=code, path=path, message=message, version=version)


# -- names -----------------------------------------------------------------------------------------------------------


def _names(old: Definition, new: Definition) -> Found:
    before, after = old["spec"], new["spec"]
    for path in ("group", "scope", "names.plural", "names.kind"):
        was, now = _at(before, path), _at(after, path)
        if was != now:
            why = f"was {was}, is {now}: the server refuses to change it, and what is stored is of the old one"
            yield _report("breaking", f"{path.rpartition('.')[2]}-changed", f"spec.{path}", why)
    for key in ("singular", "listKind"):
        was, now = (_called(each, key) for each in (before, after))
        if was != now:
            yield _report("risky", "names-changed", f"spec.names.{key}", f"was {was}, is {now}")
    for key in ("shortNames", "categories"):
        was, now = (set(each["names"].get(key) or ()) for each in (before, after))
        if gone := was - now:
            why = f"{', '.join(sorted(gone))} is gone: scripts may use it"
            yield _report("risky", "names-changed", f"spec.names.{key}", why)
        if come := now - was:
            yield _report("harmless", "names-changed", f"spec.names.{key}", f"{', '.join(sorted(come))} is new")


def _at(spec: Mapping[str, Any], path: str) -> Any:
    found: Any = spec
    for key in path.split("."):
        found = found.get(key)
    return found


def _called(spec: Mapping[str, Any], key: str) -> str:
    kind = str(spec["names"]["kind"])
    return spec["names"].get(key) or (kind.lower() if key == "singular" else f"{kind}List")


# -- versions --------------------------------------------------------------------------------------------------------


def _versions(old: Definition, new: Definition) -> Found:
    before, after = ({each["name"]: each for each in one["spec"]["versions"]} for one in (old, new))
    stored = _stored(old)
    for name, version in before.items():
        if name in after:
            yield from _version(version, after[name], name, preserved=(_is_open(old), _is_open(new)))
        else:
            yield from _gone(version, name, is_stored=name in stored)
    for name in after.keys() - before.keys():
        yield _report("harmless", "version-added", "spec.versions", "the version is new", name)
    yield from _storage(before, after, new)


def _stored(old: Definition) -> set[str]:
    stored_versions = (old.get("status") or {}).get("storedVersions")
    return set(stored_versions or (each["name"] for each in old["spec"]["versions"] if each.get("storage")))


def _is_open(definition: Definition) -> bool:
    return bool(definition["spec"].get("preserveUnknownFields"))


def _gone(version: Mapping[str, Any], name: str, *, is_stored: bool) -> Found:
    if is_stored:
        why = "the version is gone, and objects are stored in it: the server refuses this until they are migrated"
        yield _report("breaking", "version-removed", "spec.versions", why, name)
    elif version.get("served"):
        yield _report("breaking", "version-removed", "spec.versions", "the version was served: its clients fail", name)
    else:
        yield _report("harmless", "version-removed", "spec.versions", "the version was not served", name)


def _version(old: Mapping[str, Any], new: Mapping[str, Any], name: str, preserved: tuple[bool, bool]) -> Found:
    if old.get("served") and not new.get("served"):
        yield _report("breaking", "version-unserved", "served", "the version is no longer served", name)
    elif new.get("served") and not old.get("served"):
        yield _report("harmless", "version-served", "served", "the version is served now", name)
    if new.get("deprecated") and not old.get("deprecated"):
        yield _report("harmless", "version-deprecated", "deprecated", "clients are warned", name)
    yield from _subresources(old.get("subresources") or {}, new.get("subresources") or {}, name)
    yield from _selectable(old.get("selectableFields") or (), new.get("selectableFields") or (), name)
    if old.get("additionalPrinterColumns") != new.get("additionalPrinterColumns"):
        why = "the columns of kubectl get changed"
        yield _report("harmless", "columns-changed", "additionalPrinterColumns", why, name)
    was, now = (_schema(each, is_open) for each, is_open in zip((old, new), preserved, strict=True))
    yield from schema_changes(was, now, name)


def _schema(version: Mapping[str, Any], is_open: bool) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (version.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}
    return {**found, "x-kubernetes-preserve-unknown-fields": True} if is_open else found


def _subresources(old: Mapping[str, Any], new: Mapping[str, Any], name: str) -> Found:
    for key in sorted({*old, *new}):
        path = f"subresources.{key}"
        if key not in new:
            yield _report("breaking", "subresource-removed", path, f"requests to /{key} get 404", name)
        elif key not in old and key == "status":
            why = "the status is written through /status only: in other writes it is ignored"
            yield _report("risky", "subresource-added", path, why, name)
        elif key not in old:
            yield _report("harmless", "subresource-added", path, f"/{key} is new", name)
        elif old[key] != new[key]:
            yield _report("risky", "subresource-changed", path, "it reads and writes other fields", name)


def _selectable(old: Iterable[Mapping[str, str]], new: Iterable[Mapping[str, str]], name: str) -> Found:
    before, after = ({each["jsonPath"] for each in some} for some in (old, new))
    for path in sorted(before - after):
        why = f"a field selector with {path} is refused"
        yield _report("breaking", "selectable-removed", "selectableFields", why, name)
    for path in sorted(after - before):
        yield _report("harmless", "selectable-added", "selectableFields", f"{path} can be selected by", name)


def _storage(before: Mapping[str, Any], after: Mapping[str, Any], new: Definition) -> Found:
    was, now = (next((name for name, each in some.items() if each.get("storage")), "") for some in (before, after))
    if was == now or not was or not now:
        return
    why = f"objects are stored in {now}, were in {was}: stored objects are unchanged until they are written again"
    yield _report("risky", "storage-changed", "spec.versions", why)
    if (new["spec"].get("conversion") or {}).get("strategy", "None") == "None":
        is_open = _is_open(new)
        yield from schema_changes(_schema(before[was], is_open), _schema(after[now], is_open), f"{was} → {now}")


def _conversion(old: Definition, new: Definition) -> Found:
    was, now = ((each["spec"].get("conversion") or {}).get("strategy", "None") for each in (old, new))
    if was != now:
        why = f"versions were converted by {was}, are by {now}"
        yield _report("risky", "conversion-changed", "spec.conversion.strategy", why)
