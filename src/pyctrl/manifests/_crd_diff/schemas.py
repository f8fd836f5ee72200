"""Comparison of two structural schemas by their effect on values stored under the first.

A stored value was pruned and defaulted by the old schema and is valid in it. Each reported change follows from the
old and the new schema of one place: would the new one drop the value, reject it, or read it differently?
"""

from __future__ import annotations

from collections.abc import Mapping

from pyctrl.manifests._crd_diff.changes import DefinitionChange, Effect
from pyctrl.manifests._crd_diff.values import Found, Report, Schema, value_changes

__all__ = ["schema_changes"]

_IMPLICIT = frozenset({"apiVersion", "kind", "metadata"})  # of complete objects: never pruned, checked by the server
_ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True, "nullable": True}
_BARE: Schema = {"nullable": True}  # `additionalProperties: true`: any value, but objects lose their fields
_TEXTS = ("description", "title", "example", "externalDocs")


def schema_changes(old: Schema, new: Schema, version: str) -> tuple[DefinitionChange, ...]:
    """Yield the changes between the schemas of complete objects, outermost first."""
    return tuple(_SchemaDiff(version).place(old, new, "", is_object=True))


class _SchemaDiff:
    def __init__(self, version: str) -> None:
        self._version = version

    def _change(self, effect: Effect, code: str, path: str, message: str) -> DefinitionChange:
        return DefinitionChange(effect=effect, code=code, path=path, message=message, version=self._version)

    def place(self, old: Schema, new: Schema, path: str, *, is_object: bool = False) -> Found:
        """Compare one place, then the places below it."""
        if old == new:
            return

        def report(effect: Effect, code: str, message: str) -> DefinitionChange:
            return self._change(effect, code, path, message)

        before, after = _types(old), _types(new)
        yield from _type_change(old, new, before - after, report)
        if before - after - {"null"}:
            return  # the other keywords of the new type do not affect old values
        yield from value_changes(old, new, report)
        yield from _texts(old, new, report)
        if "object" in before:
            yield from self._object(old, new, path, is_object=is_object)
        if "array" in before:
            yield from self._items(old, new, path)

    def _items(self, old: Schema, new: Schema, path: str) -> Found:
        if not old.get("items") and not new.get("items"):
            return  # any items; their fields are compared where objects are
        kept = new.get("items") or (_ANYTHING if _preserves(new) else _BARE)
        yield from self.place(old.get("items") or _ANYTHING, kept, f"{path}[]")

    # -- objects ---------------------------------------------------------------------------------------------------

    def _object(self, old: Schema, new: Schema, path: str, *, is_object: bool) -> Found:
        implicit = _IMPLICIT if is_object or _is_embedded(old, new) else frozenset[str]()
        before, after = _properties(old), _properties(new)
        for key in sorted({*before, *after}):
            where = f"{path}.{key}" if path else key
            if key not in implicit or (key in before and key in after):
                yield from self._property(key, old, new, where)
        yield from self._others(old, new, path)
        yield from self._required(old, new, path, implicit)

    def _property(self, key: str, old: Schema, new: Schema, where: str) -> Found:
        before, after = _child(old, key), _child(new, key)
        if after is None:
            yield self._change("breaking", "field-removed", where, "the field is removed: stored values are dropped")
        elif before is None:
            yield self._added(where, after)
        else:
            yield from self.place(before, after, where)

    def _added(self, where: str, schema: Schema) -> DefinitionChange:
        if schema.get("default") is None:
            return self._change("harmless", "field-added", where, "an optional field is new")
        why = "a field with a default is new: every stored object reads with it at once"
        return self._change("risky", "default-added", where, why)

    def _others(self, old: Schema, new: Schema, path: str) -> Found:
        """Compare the treatment of keys without a property."""
        where = f"{path}.*" if path else "*"
        before, after = _additional(old), _additional(new)
        if before is None and after is not None:
            yield self._change("harmless", "keys-opened", where, "keys of any name are kept")
        elif before is not None and after is None:
            yield self._change("breaking", "keys-dropped", where, "keys that the schema does not name are dropped")
        elif before is not None and after is not None:
            yield from self.place(before, after, where)

    def _required(self, old: Schema, new: Schema, path: str, implicit: frozenset[str]) -> Found:
        before, after = (set(map(str, each.get("required") or ())) for each in (old, new))
        for key in sorted(before ^ after):
            where = f"{path}.{key}" if path else key
            schema = _child(new, key) or {}
            if key in implicit and not _is_embedded(old, new):
                continue  # the server requires them itself
            if key in before:
                yield self._change("harmless", "optional", where, "the field was required")
            elif schema.get("default") is not None:
                yield self._change("harmless", "required", where, "the field is required, and has a default")
            else:
                why = "the field is required and has no default: objects without it are refused"
                yield self._change("breaking", "required", where, why)
        for key in sorted(before & after):
            if (_child(old, key) or {}).get("default") is not None and (_child(new, key) or {}).get("default") is None:
                where, why = f"{path}.{key}" if path else key, "the required field no longer has a default"
                yield self._change("breaking", "required", where, why)


# -- values that a place accepts
# ----------------------------------------------------------------------------------------------


def _types(schema: Schema) -> frozenset[str]:
    """Return the types of values that a place accepts, including `null`."""
    if schema.get("x-kubernetes-int-or-string"):
        found = {"integer", "string"}
    elif kind := schema.get("type"):
        found = {"integer", "number"} if kind == "number" else {kind}
    else:
        found = {"array", "boolean", "integer", "number", "object", "string"}
    return frozenset(found | {"null"} if schema.get("nullable") else found)


def _type_change(old: Schema, new: Schema, gone: frozenset[str], report: Report) -> Found:
    if gone == {"null"}:
        yield report("breaking", "null-refused", "null is dropped now, or refused")
    elif gone:
        why = f"{_named(old)} became {_named(new)}: {' or '.join(sorted(gone))} is refused"
        yield report("breaking", "type-changed", why)
    elif _types(old) != _types(new):
        yield report("harmless", "type-widened", f"{_named(old)} became {_named(new)}")


def _named(schema: Schema) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        name = "an integer or a string"
    else:
        name = {"": "anything", "integer": "an integer", "object": "an object", "array": "a list"}.get(
            kind := schema.get("type") or "", f"a {kind}"
        )
    return f"{name} or null" if schema.get("nullable") else name


def _preserves(schema: Schema) -> bool:
    return bool(schema.get("x-kubernetes-preserve-unknown-fields"))


def _is_embedded(old: Schema, new: Schema) -> bool:
    return bool(old.get("x-kubernetes-embedded-resource") and new.get("x-kubernetes-embedded-resource"))


def _properties(schema: Schema) -> Mapping[str, Schema]:
    return schema.get("properties") or {}


def _additional(schema: Schema) -> Schema | None:
    """Return the schema of keys without a property, None where they are dropped."""
    found: Schema | bool | None = schema.get("additionalProperties")
    if isinstance(found, Mapping):
        return found
    if found is True:
        return _BARE
    return _ANYTHING if _preserves(schema) else None


def _child(schema: Schema, key: str) -> Schema | None:
    return _properties(schema).get(key, _additional(schema))


def _texts(old: Schema, new: Schema, report: Report) -> Found:
    changed = [key for key in _TEXTS if old.get(key) != new.get(key)]
    if changed:
        yield report("harmless", "described", f"{', '.join(changed)} changed")
