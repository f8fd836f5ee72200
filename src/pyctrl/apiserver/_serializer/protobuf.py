"""Decoding of protobuf bodies: Kubernetes' envelope and the built-in kinds, to the JSON that the server uses.

kubectl and Go programs send built-in kinds as protobuf. `_schemas/protobuf.json`, written by `tools/protobuf`,
describes the messages. It is loaded with the first such body, and each message is compiled on first use.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import msgspec

from pyctrl._protobuf_wire import WireError, WireType, fields, signed, varints
from pyctrl.apiserver._errors import StatusError, bad_request, unsupported_media_type

__all__ = ["DELETE_OPTIONS", "decode_protobuf"]

_PREFIX = b"k8s\0"
DELETE_OPTIONS = "DeleteOptions"

Unrecognized = Callable[[str, str, bytes], StatusError]


def decode_protobuf(body: bytes, kind: str, unrecognized: Unrecognized) -> dict[str, Any]:
    """Decode a body that must be an object of `kind`, the default for an envelope without a kind.

    An object of another kind is returned without its content: callers check the kind and refuse it.

    Raises:
        StatusError: 400, or 415 for a kind without a protobuf form.
    """
    described = _described()
    if kind not in described.names:
        raise unsupported_media_type()
    try:
        version, name, content = _unwrapped(body)
    except WireError as error:
        raise unrecognized(kind, str(error), body) from None
    if version.count("/") > 1:
        version = ""  # as Go reads an envelope: a version that does not parse is dropped
    typed = {key: value for key, value in (("apiVersion", version), ("kind", name)) if value}
    message = described.message(version, name, kind)
    if message is None:
        return typed
    where = f'{name or kind} in version "{version.rpartition("/")[2]}" cannot be handled as a {kind}: '
    if kind == DELETE_OPTIONS:
        where = ""  # they are decoded before the kind of the object is known
    try:
        return {**typed, **described.read(message, content)}
    except WireError as error:
        raise bad_request(f"{where}{error}") from None
    except RecursionError:
        raise bad_request(f"{where}exceeded max depth") from None


def _unwrapped(body: bytes) -> tuple[str, str, bytes]:
    """Return apiVersion and kind of the envelope (`runtime.Unknown`), "" if absent, and the message in it."""
    if not body:
        raise WireError("empty data")
    if not body.startswith(_PREFIX):
        raise WireError(f"provided data does not appear to be a protobuf message, expected prefix {_go(_PREFIX)}")
    if len(body) == len(_PREFIX):
        raise WireError("empty body")
    outer = _bytes_of(body[len(_PREFIX) :])
    inner = _bytes_of(outer.get(1, b""))
    return _text(inner.get(1, b"")), _text(inner.get(2, b"")), outer.get(2, b"")


def _bytes_of(data: bytes) -> dict[int, bytes]:
    return {number: value for number, _, value in fields(data) if isinstance(value, bytes)}


def _go(data: bytes) -> str:
    return f"[{' '.join(str(byte) for byte in data)}]"


# -- messages --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _MessageField:
    """One field of a message: its JSON name, its wire format and the conversion of its value."""

    name: str
    rule: str  # "", "list", "map", or "inline": its members belong to the outer message
    wire: WireType
    value: Callable[[Any], Any]
    omit: bool  # left out when it is zero


class _Messages:
    """The messages of the built-in kinds by name, compiled on first use."""

    def __init__(self, kinds: dict[str, str], messages: dict[str, str]) -> None:
        self._kinds = kinds
        self._texts = messages
        self._compiled: dict[str, dict[int, _MessageField]] = {}
        self.names: dict[str, str] = {}  # kind -> message, preferably of the core group
        for kind, message in kinds.items():
            name = kind.partition(" ")[2]
            if name not in self.names or kind.startswith("v1 "):
                self.names[name] = message

    def message(self, version: str, kind: str, wanted: str) -> str | None:
        """Return the message of a kind; that of `wanted` without version or kind, or for an unknown version of it."""
        known = self._kinds.get(f"{version} {kind}")
        return self.names[wanted] if known is None and (not kind or kind == wanted) else known

    def read(self, name: str, data: bytes) -> Any:
        """Decode a message to its JSON."""
        described = self._fields(name)
        found: dict[str, Any] = {}
        for number, wire, value in fields(data):
            field = described.get(number)
            if field is not None:
                _put(found, field, wire, value)
        return _UNIONS[name](found) if name in _UNIONS else found

    def _fields(self, name: str) -> dict[int, _MessageField]:
        if name not in self._compiled:
            texts = self._texts[name].split(",") if self._texts[name] else []
            self._compiled[name] = dict(self._field(text) for text in texts)
        return self._compiled[name]

    def _field(self, text: str) -> tuple[int, _MessageField]:
        """Parse `NUMBER NAME [list|map|inline] TYPE[?]`."""
        number, name, *rule, of = text.removesuffix("?").split(" ")
        wire, value = _SCALARS.get(of) or (WireType.BYTES, self._reader(of))
        if rule == ["map"]:
            wire, value = WireType.BYTES, _entry(value)  # no kind has a map of numbers
        return int(number), _MessageField(name, "".join(rule), wire, value, text.endswith("?"))

    def _reader(self, name: str) -> Callable[[bytes], Any]:
        return lambda data: self.read(name, data)


def _put(found: dict[str, Any], field: _MessageField, wire: WireType, raw: int | bytes) -> None:
    if field.rule == "list" and wire != field.wire and isinstance(raw, bytes) and field.wire is WireType.VARINT:
        found.setdefault(field.name, []).extend(field.value(number) for number in varints(raw))
        return
    if wire != field.wire:
        raise WireError(f"proto: wrong wireType = {wire} for field {field.name[:1].upper()}{field.name[1:]}")
    value = field.value(raw)
    if field.rule == "list":
        found.setdefault(field.name, []).append(value)
    elif field.rule == "map":
        found.setdefault(field.name, {}).update(value)
    elif field.rule == "inline":
        found.update(value)
    elif value is not None and (value or not field.omit):
        found[field.name] = value


def _entry(value_of: Callable[[Any], Any]) -> Callable[[bytes], dict[str, Any]]:
    def read(data: bytes) -> dict[str, Any]:
        parts = _bytes_of(data)
        return {_text(parts.get(1, b"")): value_of(parts.get(2, b""))}

    return read


# -- values ----------------------------------------------------------------------------------------------------


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _double(data: bytes) -> float | int:
    number: float = struct.unpack("<d", data)[0]
    return int(number) if number.is_integer() else number  # as in JSON


def _strings(data: bytes) -> list[str]:
    return [_text(value) for number, _, value in fields(data) if number == 1 and isinstance(value, bytes)]


def _json(data: bytes) -> Any:
    text = _bytes_of(data).get(1, b"")
    try:
        return msgspec.json.decode(text) if text else None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WireError(f"json: {error}") from None


def _quantity(data: bytes) -> str:
    return _text(_bytes_of(data).get(1, b"")) or "0"


def _int_or_string(data: bytes) -> int | str:
    parts = {number: value for number, _, value in fields(data)}
    is_text, number, text = parts.get(1, 0), parts.get(2, 0), parts.get(3, b"")
    if is_text == 1:
        return _text(text) if isinstance(text, bytes) else ""
    return signed(number) if isinstance(number, int) else 0


def _moment(data: bytes) -> tuple[datetime, int] | None:
    if not data:
        return None
    parts = {number: value for number, _, value in fields(data) if isinstance(value, int)}
    seconds, nanoseconds = signed(parts.get(1, 0)), signed(parts.get(2, 0))
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds), nanoseconds // 1000
    except OverflowError:
        raise WireError(f"time out of range: {seconds} seconds") from None


def _time(data: bytes) -> str | None:
    moment = _moment(data)
    return f"{moment[0].replace(tzinfo=None).isoformat()}Z" if moment else None


def _microtime(data: bytes) -> str | None:
    moment = _moment(data)
    return f"{moment[0].replace(tzinfo=None).isoformat()}.{moment[1]:06}Z" if moment else None


_SCALARS: dict[str, tuple[WireType, Callable[[Any], Any]]] = {
    "string": (WireType.BYTES, _text),
    "bytes": (WireType.BYTES, _encoded),
    "int": (WireType.VARINT, signed),
    "bool": (WireType.VARINT, bool),
    "double": (WireType.FIXED64, _double),
    "strings": (WireType.BYTES, _strings),
    "json": (WireType.BYTES, _json),
    "quantity": (WireType.BYTES, _quantity),
    "intorstring": (WireType.BYTES, _int_or_string),
    "time": (WireType.BYTES, _time),
    "microtime": (WireType.BYTES, _microtime),
}

_PROPS = "apiextensions.v1.JSONSchemaPropsOr"
_UNIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    f"{_PROPS}Array": lambda found: found.get("jSONSchemas") or found.get("schema"),
    f"{_PROPS}Bool": lambda found: found["schema"] if "schema" in found else found.get("allows", False),
    f"{_PROPS}StringArray": lambda found: found.get("property") or found.get("schema"),
}


@cache
def _described() -> _Messages:
    from pyctrl._schemas import load  # here: read with the first protobuf body

    document = load("protobuf")
    return _Messages(document["kinds"], document["messages"])
