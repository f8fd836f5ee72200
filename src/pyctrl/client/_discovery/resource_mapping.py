"""Where a kind is served, and the paths of its objects; keys that would name another path are refused."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pyctrl.api import GroupVersionKind, GroupVersionResource, Key, Kind, KubernetesObject, Unstructured

__all__ = ["ResourceMapping", "checked_key", "path_for"]

O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceMapping:
    """How the server offers a kind: its plural, its scope, what can be done with it."""

    gvk: GroupVersionKind
    plural: str
    namespaced: bool
    verbs: frozenset[str] = frozenset()
    subresources: frozenset[str] = frozenset()
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @property
    def gvr(self) -> GroupVersionResource:
        """The resource, with group and version."""
        return GroupVersionResource(self.gvk.group, self.gvk.version, self.plural)


def path_for(mapping: ResourceMapping, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Return the path of an object, or of the collection when there is no name; not yet escaped for a URL.

    A collection without a namespace is that of all namespaces. The namespace of a cluster-scoped kind is left out,
    so that a request's key fits both scopes.

    Raises:
        ValueError: when an object of a namespaced kind is named without its namespace, or a part has a slash.
    """
    parts = [_root(mapping.gvk.group, mapping.gvk.version)]
    if mapping.namespaced and namespace:
        parts += ["namespaces", _checked_segment(namespace)]
    elif mapping.namespaced and name:
        raise ValueError(f"{mapping.gvk.kind} {name!r} needs a namespace: it is a namespaced kind")
    parts.append(mapping.plural)
    if name:
        parts.append(_checked_segment(name))
    if subresource:
        parts += [_checked_segment(part) for part in subresource.split("/")]
    return "/".join(parts)


@cache  # for every request, and there are as many as group versions
def _root(group: str, version: str) -> str:
    return GroupVersionResource(group, version, "").path


def checked_key(kind: Kind[O], key: Any) -> Key:
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
    _checked_segment(key.name)
    return key


def _checked_segment(text: str) -> str:
    """Return a part of a path. Raises ValueError for one that client-go refuses: it would lead to another path."""
    if "/" in text or "%" in text or text in (".", ".."):
        raise ValueError(f"{text!r} cannot be a name: names are no '.' or '..', and have no '/' or '%'")
    return text


def _kind_name(kind: Kind[O]) -> str:
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
