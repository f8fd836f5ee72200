"""Keys as callers pass them: what is none, or would be the path of something else, is refused before a request."""

from __future__ import annotations

from typing import Any

from pyctrl.api import GroupVersionKind, Key, KindLike, KubernetesObject, Unstructured

__all__ = ["check_segment", "checked_key"]


def checked_key(kind: KindLike, key: Any) -> Key:
    """Return a key that names one object.

    Raises:
        TypeError: it is no `Key`, such as a name alone; the message says what to pass.
        ValueError: it has no name, which would be the path of a list, or one that cannot stand in a path.
    """
    if not isinstance(key, Key):
        raise TypeError(f"expected a Key to name the {_kind_name(kind)}, got {_description(key)}: {_hint(key)}")
    if not key.name:
        raise ValueError(
            f"the key of a {_kind_name(kind)} must have a name, got {tuple(key)}: an empty one names a list"
        )
    check_segment(key.name)
    return key


def check_segment(text: str) -> str:
    """Return a part of a path. Raises ValueError for one that client-go refuses: it would lead to another path."""
    if "/" in text or "%" in text or text in (".", ".."):
        raise ValueError(f"{text!r} cannot be a name: names are no '.' or '..', and have no '/' or '%'")
    return text


def _kind_name(kind: KindLike) -> str:
    if isinstance(kind, GroupVersionKind):
        return kind.kind
    return getattr(kind, "__name__", repr(kind))


def _description(key: Any) -> str:
    text = repr(key) if isinstance(key, str | tuple) else "one"
    return f"{text} ({type(key).__name__})" if text != "one" else f"a {type(key).__name__}"


def _hint(key: Any) -> str:
    if isinstance(key, str):
        namespace, slash, name = key.rpartition("/")
        if slash:
            return f"pass Key({namespace!r}, {name!r})"
        return f"pass Key(namespace, {key!r}), or Key('', {key!r}) where the kind has no namespaces"
    if isinstance(key, KubernetesObject | Unstructured) or isinstance(getattr(key, "key", None), Key):
        return "pass its .key"
    return "pass Key(namespace, name)"
