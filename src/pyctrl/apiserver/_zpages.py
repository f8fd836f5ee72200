"""The pages `/statusz` (versions and running time) and `/flagz` (flags), as text or as objects of config.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from pyctrl._clock import now
from pyctrl.api import format_time
from pyctrl.apiserver._errors import Response, status_error

__all__ = ["flagz_response", "statusz_response"]

_HEADER = """
apiserver {}
Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for \
debugging purposes only.
"""
_PATHS = ("/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version")
_DEPRECATED = '299 - "This version of the {} endpoint is deprecated. Please use a newer version."'
_TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
_STRUCTURED = ("application/json", "application/yaml")


def statusz_response(accept: str, started: datetime, version: Mapping[str, str]) -> Response:
    """Return the page in the first accepted form.

    Raises:
        StatusError: 406, no form is accepted.
    """
    status = {
        "startTime": format_time(started),
        "uptimeSeconds": int((now() - started).total_seconds()),
        "goVersion": version["goVersion"],
        "binaryVersion": version["gitVersion"].removeprefix("v"),
        "emulationVersion": f"{version['emulationMajor']}.{version['emulationMinor']}",
        "paths": list(_PATHS),
    }
    return _response(accept, "Statusz", _text(status, started), status)


def flagz_response(accept: str, flags: Mapping[str, str]) -> Response:
    """Return the page with the flags in the first accepted form.

    Raises:
        StatusError: 406, no form is accepted.
    """
    text = "".join(f"{name}: {value}\n" for name, value in sorted(flags.items()))
    return _response(accept, "Flagz", text, {"flags": dict(sorted(flags.items()))})


def _response(accept: str, kind: str, text: str, content: Mapping[str, Any]) -> Response:
    """Return a page in the first accepted form: as text, or as an object of a kind with this content."""
    for clause in (accept or "text/plain").split(","):
        media, *given = (part.strip() for part in clause.split(";"))
        if media in ("*/*", "text/*", "text/plain"):
            return Response(status=200, headers=_TEXT, body=(_HEADER.format(kind.lower()) + text).encode())
        served = _version_of(kind, given)
        if media in _STRUCTURED and served in ("v1alpha1", "v1beta1"):
            return _structured(media, kind, served, content)
    message = "only the following media types are accepted: application/json, application/yaml, text/plain"
    raise status_error(406, "NotAcceptable", message)


def _version_of(kind: str, parameters: list[str]) -> str:
    """Return the version of the kind that a media type asks for; "" if it asks for none."""
    named = dict(each.split("=", 1) for each in parameters if "=" in each)
    return named.get("v", "") if (named.get("g"), named.get("as")) == ("config.k8s.io", kind) else ""


def _text(status: Mapping[str, Any], started: datetime) -> str:
    minutes, seconds = divmod(status["uptimeSeconds"], 60)
    hours, minutes = divmod(minutes, 60)
    lines = {
        "Started": started.strftime("%a %b %e %H:%M:%S UTC %Y"),
        "Up": f"{hours} hr {minutes:02} min {seconds:02} sec",
        "Go version": status["goVersion"],
        "Binary version": status["binaryVersion"],
        "Emulation version": status["emulationVersion"],
        "Paths": " ".join(status["paths"]),
    }
    return "\n" + "".join(f"{name}: {value}\n" for name, value in lines.items())


def _structured(media: str, kind: str, served: str, content: Mapping[str, Any]) -> Response:
    obj = {"kind": kind, "apiVersion": f"config.k8s.io/{served}", "metadata": {"name": "apiserver"}, **content}
    headers = [("Content-Type", f"{media};g=config.k8s.io;v={served};as={kind}")]
    if served == "v1alpha1":
        headers.append(("Warning", _DEPRECATED.format(kind.lower())))
    if media == "application/yaml":
        import yaml  # here: slow, and nothing else of a server's start needs it

        return Response(status=200, headers=headers, body=yaml.safe_dump(obj).encode())
    return Response(status=200, headers=headers, body=msgspec.json.encode(obj))
