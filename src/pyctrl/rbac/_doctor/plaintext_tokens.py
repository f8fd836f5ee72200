"""Tokens in plain text, where everybody can read them who reads the file."""

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
_ENCODED = re.compile(r"^ZXlK[A-Za-z0-9+/=]+$")  # "eyJ" in base64, as Secrets have it


def find_tokens(text: str, source: str) -> Iterator[Finding]:
    """Find tokens in a file that is not one of objects, such as a program."""
    for number, line in enumerate(text.splitlines(), 1):
        for found in _TOKEN.finditer(line):
            yield _finding(ObjectRef("line", "", str(number), source), "It has", found.group(1))


def check_tokens(named: ObjectRef, obj: Mapping[str, Any]) -> Iterator[Finding]:
    """Find tokens in an object; those of a Secret only where it is in a file."""
    if named.kind == "Secret" and not named.source:
        return
    for path, text in _texts(obj, ""):
        if named.kind == "Secret" and _ENCODED.match(text):
            text = _decoded(text)
        for found in _TOKEN.finditer(text):
            yield _finding(named, f"{path} has", found.group(1))


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
        message=f"{place} a token in plain text{_whose(payload)}. Who reads it can log in with it, from the history of "
        "the repository too, after it was taken out.",
        cure="# in a pod pyctrl reads the token of the pod's service account, and elsewhere that of the kubeconfig;\n"
        "# one that has been published is revoked by deleting its Secret, or the service account",
    )


def _whose(payload: str) -> str:
    """Say from a token's claims whose it is, and until when."""
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
