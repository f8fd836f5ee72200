"""Validation of `clientConfig` and review versions, for admission and conversion webhooks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pyctrl._go.text import quoted
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, invalid_value, required
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_client_config", "validate_review_versions"]


REVIEW_VERSIONS = ("v1", "v1beta1")  # of admission and of conversion
_FORM = "; desired format: https://host[/path]"
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}")
_BAD_HOST = re.compile(r"[\s<>\"^`{}|\\%]")
_PORT = re.compile(r"(:\d*)?")


class _ParsedURL(NamedTuple):
    scheme: str
    user: str | None
    host: str
    query: str
    fragment: str


def validate_client_config(config: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Validate that a `clientConfig` has either a valid URL or a valid service."""
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif service is not None:
        yield from _service(service, f"{path}.service")
    elif url is not None:
        yield from _url(url, f"{path}.url")


def _url(text: str, path: str) -> Iterator[FieldError]:
    try:
        url = _parsed(text)
    except ValueError as error:
        yield required(path, f"url must be a valid URL: parse {quoted(text)}: {error}{_FORM}")
        return
    if url.scheme != "https":
        yield invalid_value(path, url.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    if not url.host:
        yield invalid_value(path, url.host, f"host must be specified{_FORM}")
    if url.user is not None:
        yield invalid_value(path, url.user, "user information is not permitted in the URL")
    if url.fragment:
        yield invalid_value(path, url.fragment, "fragments are not permitted in the URL")
    if url.query:
        yield invalid_value(path, url.query, "query parameters are not permitted in the URL")


def _parsed(text: str) -> _ParsedURL:
    """Parse a URL as Go's url.Parse.

    Raises:
        ValueError: It is not a URL; the text is Go's.
    """
    if any(character < " " or character == "\x7f" for character in text):
        raise ValueError("net/url: invalid control character in URL")
    rest, _, fragment = text.partition("#")
    scheme = ""
    if rest.startswith(":"):
        raise ValueError("missing protocol scheme")
    if found := _SCHEME.match(rest):
        scheme, rest = found[1].lower(), rest[found.end() :]
    rest, _, query = rest.partition("?")
    user, host, url_path = None, "", rest
    if rest.startswith("//"):
        authority, slash, url_path = rest[2:].partition("/")
        user, host = _authority(authority)
        url_path = slash + url_path
    if wrong := _BAD_ESCAPE.search(url_path):
        raise ValueError(f"invalid URL escape {quoted(wrong[0])}")
    return _ParsedURL(scheme, user, host, query, fragment)


def _authority(text: str) -> tuple[str | None, str]:
    user, at, host = text.rpartition("@")
    name, port = host, ""
    if host.startswith("["):
        inside, bracket, port = host.partition("]")
        if not bracket:
            raise ValueError("missing ']' in host")
        name = inside[1:]
    elif ":" in host:
        name, _, number = host.rpartition(":")
        port = f":{number}"
    if wrong := _BAD_HOST.search(name):
        raise ValueError(f"invalid character {quoted(wrong[0])} in host name")
    if not _PORT.fullmatch(port):
        raise ValueError(f"invalid port {quoted(port)} after host")
    return (user if at else None), host


def _service(service: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    # As in kube-apiserver: a missing namespace is reported for the name, and a missing name for the namespace.
    if not service.get("namespace"):
        yield required(f"{path}.name")
    if not service.get("name"):
        yield required(f"{path}.namespace")
    port = service.get("port", 443)
    if not 1 <= port <= 65535:
        why = "port is not valid: must be between 1 and 65535, inclusive"
        yield invalid_value(f"{path}.port", port, why)
    url_path = service.get("path")
    if url_path and url_path != "/":
        yield from _path(url_path, f"{path}.path")


def _path(url_path: str, path: str) -> Iterator[FieldError]:
    if not url_path.startswith("/"):
        yield invalid_value(path, url_path, "must start with a '/'")
    for index, segment in enumerate(url_path[1:].removesuffix("/").split("/")):
        if not segment:
            yield invalid_value(path, url_path, f"segment[{index}] may not be empty")
        for why in names.subdomain(segment) if segment else ():
            yield invalid_value(path, url_path, f"segment[{index}]: {why}")


def validate_review_versions(versions: Sequence[str], path: str, why_none: str = "") -> Iterator[FieldError]:
    """Validate the review versions that a webhook accepts."""
    if not versions:
        yield required(path, why_none)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid_value(f"{path}[{index}]", version, "duplicate version")
            continue
        for why in names.label_1035(version):
            yield invalid_value(f"{path}[{index}]", version, why)
    if not set(versions) & set(REVIEW_VERSIONS):
        yield invalid_value(path, list(versions), f"must include at least one of {', '.join(REVIEW_VERSIONS)}")
