"""Checks for service account tokens in plain text."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pyctrl.rbac._doctor.findings import Finding, ObjectRef

__all__ = ["check_tokens", "find_tokens"]

_TOKEN = re.compile(r"\beyJ[A-Za-z0-9_-]{5,}\.(eyJ[A-Za-z0-9_-]{5,})\.[A-Za-z0-9_-]*")
_ENCODED = re.compile(r"^ZXlK[A-Za-z0-9+/=]+$")  # "eyJ" in base64, as in Secrets


def find_tokens(text: str, source: str) -> Iterator[Finding]:
    """Yield a finding for each token in a file that is not a manifest, such as a program."""
    for number, line in enumerate(text.splitlines(), 1):
        for found in _TOKEN.finditer(line):
            yield _finding(ObjectRef("line", "", str(number), source), "It contains", found.group(1))


def check_tokens(named: ObjectRef, obj: Mapping[str, Any]) -> Iterator[Finding]:
    """Report tokens in an object; tokens in a Secret only if the Secret is in a file."""
    if named.kind == "Secret" and not named.source:
        return
    for path, text in _texts(obj, ""):
        if named.kind == "Secret" and _ENCODED.match(text):
            text = _decoded(text)
        for found in _TOKEN.finditer(text):
            yield _finding(named, f"{path} contains", found.group(1))


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")


def _finding(named: ObjectRef, place: str, payload: str) -> Finding:
    return Finding(
        severity="warning",
        code="token-in-text",
        object=named,
        message=f"{place} a token in plain text{_describe_owner(payload)}. Anyone who can read the "
        "file, or the history of its repository, can authenticate with it.",
        fix="# remove it: pyctrl uses the token of the pod's service account, and outside of pods the kubeconfig;\n"
        "# to revoke a published token, delete its Secret or the service account",
    )


def _describe_owner(payload: str) -> str:
    """Return a token's subject, and whether it never expires, from its claims."""
    try:
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        subject = claims.get("sub")
    except (ValueError, AttributeError):
        return ""
    lasting = "" if "exp" in claims else ", which never expires"
    return f", of {subject}{lasting}" if subject else lasting


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode()
    except (binascii.Error, ValueError):
        return ""
