"""Texts of values that Kubernetes keeps as they were sent (runtime.RawExtension).

kube-apiserver compares such a value by its bytes. A client that sends `{"a": 1}` and one whose patch leaves `{"a":1}`
wrote different values: a ControllerRevision refuses the second, a DeviceClass gets another generation. A value without
spaces is a plain dict here. Any other is a `RawObject`, until a patch makes it plain. Go also escapes `&`, and sorts
members in some patches. That is not done here: controllers in Python do not send what controllers in Go send.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

__all__ = ["RawObject", "RawPath", "encode_with_texts", "keep_texts", "raw_path", "without_texts"]

#: The keys that lead to a value; None stands for each item of a list.
RawPath: TypeAlias = tuple[str | None, ...]

_ONE_LINE = bytes.maketrans(b"\r\n\t", b"   ")  # an event of a watch is a line


class RawObject(dict[str, Any]):
    """A JSON object with the text that a client sent. It equals only a value with the same text."""

    __slots__ = ("text",)

    def __init__(self, value: dict[str, Any], text: bytes) -> None:
        super().__init__(value)
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RawObject) and self.text == other.text

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None


def raw_path(text: str) -> RawPath:
    """Return the path of a text such as `spec.config[].opaque.parameters`."""
    return tuple(None if part == "[]" else part for part in text.replace("[]", ".[]").split("."))


def keep_texts(obj: dict[str, Any], data: bytes, paths: Sequence[RawPath]) -> None:
    """Replace, in place, the values at these paths whose text in `data`, the JSON of the object, has spaces."""
    for path in paths:
        _keep(obj, msgspec.Raw(data), path)


def _keep(value: Any, raw: msgspec.Raw, path: RawPath) -> Any:
    """Return the value, with the texts of its parts."""
    if not path:
        return _raw_object(value, bytes(raw)) if isinstance(value, dict) else value
    key, rest = path[0], path[1:]
    if key is None and isinstance(value, list):
        for index, each in enumerate(msgspec.json.decode(raw, type=list[msgspec.Raw])):
            value[index] = _keep(value[index], each, rest)
    elif key is not None and isinstance(value, dict) and value.get(key) is not None:
        value[key] = _keep(value[key], msgspec.json.decode(raw, type=dict[str, msgspec.Raw])[key], rest)
    return value


def _raw_object(value: dict[str, Any], text: bytes) -> dict[str, Any]:
    is_plain = text == msgspec.json.format(text, indent=-1)
    return value if is_plain else RawObject(value, text.translate(_ONE_LINE))


def without_texts(obj: dict[str, Any], paths: Sequence[RawPath]) -> dict[str, Any]:
    """Return the object with plain values at these paths, as a patch leaves them even if it does not touch them."""
    for path in paths:
        obj = _replaced(obj, path, lambda value: {**value})
    return obj


def encode_with_texts(obj: dict[str, Any], paths: Sequence[RawPath]) -> bytes:
    """Encode an object with the texts of its values at these paths."""
    for path in paths:
        obj = _replaced(obj, path, lambda value: msgspec.Raw(value.text))
    return msgspec.json.encode(obj)


def _replaced(value: Any, path: RawPath, replace: Callable[[RawObject], Any]) -> Any:
    """Return the value with other raw objects at a path, in a copy of what is above them."""
    if not path:
        return replace(value) if isinstance(value, RawObject) else value
    key, rest = path[0], path[1:]
    if key is None and isinstance(value, list):
        return [_replaced(each, rest, replace) for each in value]
    if key is None or not isinstance(value, dict) or key not in value:
        return value
    return {**value, key: _replaced(value[key], rest, replace)}
