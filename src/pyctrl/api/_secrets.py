"""Secrets in objects: pydantic writes stars for them, which an update would store in their place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, Secret, SecretBytes, SecretStr

__all__ = ["has_secrets", "revealed"]

_SECRETS = (Secret, SecretBytes, SecretStr)


@cache
def has_secrets(cls: type[BaseModel]) -> bool:
    """Say whether there can be secrets in the objects of a class."""
    return _mentions(cls, set())


def _mentions(annotation: Any, seen: set[type]) -> bool:
    if isinstance(annotation, type) and annotation not in seen:
        seen.add(annotation)
        if issubclass(annotation, _SECRETS):
            return True
        if issubclass(annotation, BaseModel):
            return any(_mentions(field.annotation, seen) for field in annotation.__pydantic_fields__.values())
    return any(_mentions(arg, seen) for arg in get_args(annotation))


def revealed(value: Any, wire: Any) -> Any:
    """Return what pydantic has written of a value, with the secrets themselves."""
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
