"""Request bodies: JSON, YAML and protobuf become dictionaries; the others are refused in kube-apiserver's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from ._answers import JSON, Refused, bad_request, too_large, unsupported_media_type
from ._forms import YAML
from ._go_json import syntax_error
from ._strict import duplicate_fields

if TYPE_CHECKING:
    import yaml

BODY_LIMIT = 3 * 1024 * 1024  # bytes; kube-apiserver's own

PROTOBUF = "application/vnd.kubernetes.protobuf"

EXCERPT = 30  # bytes of a body that a refusal shows

_decode = msgspec.json.Decoder().decode


def media_type(headers: Mapping[str, str], default: str = JSON) -> str:
    """Give the content type without its parameters; an absent or unknowing one is the default."""
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    return default if given in ("", "application/octet-stream", "*/*") else given


def decode_object(body: bytes, headers: Mapping[str, str], kind: str) -> dict[str, Any]:
    """Decode a body that must be an object of `kind`.

    Raises:
        Refused: 400, 413 or 415.
    """
    media = media_type(headers)
    if len(body) > BODY_LIMIT:
        raise too_large(BODY_LIMIT)
    if media == JSON:
        decoded = _json_object(body, kind)
    elif media in (YAML, "application/x-yaml"):
        decoded = decode_yaml(body, kind)
    elif media == PROTOBUF:
        from ._protobuf import decode_protobuf  # here: the common server is never sent any

        decoded = decode_protobuf(body, kind, unrecognized)
    else:
        raise unsupported_media_type()
    if not isinstance(decoded, dict):
        reason = f"json: cannot unmarshal {_go_kind(decoded)} into Go value of type {_TYPE_META}"
        raise _no_version_and_kind(kind, reason, body)
    return decoded


def _json_object(body: bytes, kind: str) -> Any:
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        why = syntax_error(body) or "invalid text"
        raise _no_version_and_kind(kind, why, body) from None


_TYPE_META = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'


def _no_version_and_kind(kind: str, why: str, body: bytes) -> Refused:
    return unrecognized(kind, f"couldn't get version/kind; json parse error: {why}", body)


def unrecognized(kind: str, why: str, body: bytes) -> Refused:
    """Refuse (400) a body in which no object of `kind` can be found; the answer shows how the body begins."""
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {why} ({_excerpt(body)})")


def _excerpt(body: bytes) -> str:
    if not body:
        return "<empty>"
    start = body[:EXCERPT]
    shown = start.decode("utf-8", "replace") if body.startswith(b"{") else start.hex()
    return shown if len(body) <= EXCERPT else f"{shown} ..."


def _go_kind(value: object) -> str:
    names = ((bool, "bool"), (int, "number"), (float, "number"), (str, "string"), (list, "array"))
    return next((name for type_, name in names if isinstance(value, type_)), "null")


def decode_json(body: bytes) -> Any:
    """Decode JSON of any shape.

    Raises:
        ValueError: it is none; the message is that of Go's decoder.
    """
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError(syntax_error(body) or "invalid text") from None


def duplicates_in(body: bytes, decoded: object) -> list[str]:
    """Name the members that an object in a JSON body has twice, as paths.

    The common body has none, which is seen cheaply: encoded again, it has as many colons after quotes.
    """
    if body.count(b'":') <= msgspec.json.encode(decoded).count(b'":'):
        return []
    return duplicate_fields(body)


# -- YAML ------------------------------------------------------------------------------------------------------


def decode_yaml(body: bytes, kind: str = "") -> Any:
    """Decode YAML as kube-apiserver does: go-yaml's scalars, and keys that are strings as in JSON.

    Raises:
        Refused: 400, it is no YAML.
    """
    import yaml

    try:
        return yaml.load(body, Loader=_loader())
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        first = str(error).splitlines()[0]
        problem = f"error converting YAML to JSON: yaml: {first}"
        raise (unrecognized(kind, problem, body) if kind else bad_request(problem)) from error


@cache
def _loader() -> type[yaml.SafeLoader]:
    """Make a loader with go-yaml's scalars: y and n are booleans, times and 1:30 are text, 1e3 is a number."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            return {_as_key(key): value for key, value in super().construct_mapping(node, deep).items()}

    Loader.yaml_implicit_resolvers = {}  # PyYAML's own are left out; these are all
    words = "y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF"
    resolver = Loader.add_implicit_resolver
    resolver("tag:yaml.org,2002:bool", re.compile(f"^(?:{words})$"), list("yYnNtTfFoO"))
    resolver(
        "tag:yaml.org,2002:int",
        re.compile(r"^[-+]?(?:0|[1-9][0-9_]*|0[0-7_]+|0x[0-9a-fA-F_]+|0b[01_]+)$"),
        list("-+0123456789"),
    )
    resolver("tag:yaml.org,2002:float", re.compile(_FLOAT), list("-+0123456789."))
    resolver("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
    resolver("tag:yaml.org,2002:merge", re.compile(r"^(?:<<)$"), ["<"])
    Loader.add_constructor("tag:yaml.org,2002:bool", _construct_bool)
    Loader.add_constructor("tag:yaml.org,2002:float", _construct_float)
    return Loader


_FLOAT = r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"


def _construct_bool(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> bool:
    return str(node.value).lower() in ("y", "yes", "true", "on")


def _construct_float(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float | int:
    number = float(node.value)
    return int(number) if number.is_integer() else number


def _as_key(key: object) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)
