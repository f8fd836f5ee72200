"""Secret values: sent to the server, hidden in all other output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, Secret, SecretBytes, SecretStr

__all__ = [
    "HIDDEN",
    "LAST_APPLIED",
    "has_secrets",
    "hidden",
    "hides_values",
    "may_hide_values",
    "redacted",
    "revealed",
    "shown_wire",
]

HIDDEN = "***"  # replaces a value
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # contains the whole object, also of a Secret
SHOWN = 200  # bytes of a body that is not JSON
_SECRETS = (Secret, SecretBytes, SecretStr)


@cache
def has_secrets(cls: type[BaseModel]) -> bool:
    """Return whether objects of a class can contain secrets."""
    return _mentions(cls, set(), _is_secret)


def hides_values(cls: type[BaseModel]) -> bool:
    """Return whether messages about objects of a class omit their values: Secrets, and classes with secret fields."""
    return bool(cls.model_config.get("hide_input_in_errors")) or has_secrets(cls)


@cache
def may_hide_values(cls: type[BaseModel]) -> bool:
    """Return whether a class, or a class that its fields name, hides values; see `hides_values`."""
    return _mentions(cls, set(), _hides)


def hidden(value: object) -> object:
    """Return the replacement of a hidden value: the keys of a map, and stars."""
    return dict.fromkeys(value, HIDDEN) if isinstance(value, Mapping) else HIDDEN


def redacted(obj: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object that is safe to show: a Secret, or a list of them, keeps its keys but not its values."""
    if obj.get("apiVersion") != "v1" or obj.get("kind") not in ("Secret", "SecretList"):
        return dict(obj)
    if isinstance(items := obj.get("items"), list):
        return {**obj, "items": [_redacted_secret(each) if isinstance(each, Mapping) else HIDDEN for each in items]}
    return _redacted_secret(obj)


def _redacted_secret(obj: Mapping[str, Any]) -> dict[str, Any]:
    plain = ("apiVersion", "kind", "type", "immutable")
    shown = {key: value if key in plain else hidden(value) for key, value in obj.items() if key != "metadata"}
    metadata = obj.get("metadata")
    if isinstance(metadata, Mapping):
        annotations = metadata.get("annotations")
        if isinstance(annotations, Mapping) and LAST_APPLIED in annotations:
            metadata = {**metadata, "annotations": {**annotations, LAST_APPLIED: HIDDEN}}
        shown["metadata"] = metadata
    return shown


def shown_wire(data: bytes | memoryview) -> str:
    """Return bytes of the wire for a message: their beginning, or for JSON only their length.

    Undecodable JSON may be that of a Secret. A body that is not JSON comes from something in between, such as a proxy.
    """
    text = bytes(data[:SHOWN])
    if text.lstrip()[:1] in (b"{", b"["):
        return f"{len(data)} bytes that begin like JSON"
    return repr(text)


def _mentions(annotation: Any, seen: set[type], is_wanted: Callable[[type], bool]) -> bool:
    """Return whether an annotation names a wanted class, or a model with a field that does."""
    if isinstance(annotation, type) and annotation not in seen:
        seen.add(annotation)
        if is_wanted(annotation):
            return True
        if issubclass(annotation, BaseModel):
            fields = annotation.__pydantic_fields__.values()
            return any(_mentions(field.annotation, seen, is_wanted) for field in fields)
    return any(_mentions(arg, seen, is_wanted) for arg in get_args(annotation))


def _is_secret(cls: type) -> bool:
    return issubclass(cls, _SECRETS)


def _hides(cls: type) -> bool:
    return _is_secret(cls) or (issubclass(cls, BaseModel) and bool(cls.model_config.get("hide_input_in_errors")))


def revealed(value: Any, wire: Any) -> Any:
    """Return the wire form that pydantic has written of a value, with the secrets' real values filled in."""
    if isinstance(value, _SECRETS):
        secret = value.get_secret_value()
        return secret.decode() if isinstance(secret, bytes) else secret
    if isinstance(value, BaseModel) and isinstance(wire, dict):
        fields = type(value).__pydantic_fields__
        for name, field in fields.items():
            alias = field.serialization_alias or name
            if alias in wire:
                wire[alias] = revealed(getattr(value, name), wire[alias])
    elif isinstance(value, Mapping) and isinstance(wire, dict):
        return {key: revealed(item, wired) for item, (key, wired) in zip(value.values(), wire.items(), strict=False)}
    elif isinstance(value, (list, tuple)) and isinstance(wire, list):
        return [revealed(item, wired) for item, wired in zip(value, wire, strict=False)]
    return wire
