"""The page `/statusz`: versions and running time of the server, as text or as a `Statusz` of config.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from pyctrl._clock import now
from pyctrl.api import format_time
from pyctrl.apiserver._errors import Response, status_error

__all__ = ["statusz_response"]

_HEADER = """
apiserver statusz
Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for \
debugging purposes only.

"""
_PATHS = ("/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version")
_DEPRECATED = ("Warning", '299 - "This version of the statusz endpoint is deprecated. Please use a newer version."')
_TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
_STRUCTURED = ("application/json", "application/yaml")


def statusz_response(accept: str, started: datetime, version: Mapping[str, str]) -> Response:
    """Return the page in the first accepted form.

    Raises:
        StatusError: 406, no form is accepted.
    """
    status = {
        "kind": "Statusz",
        "apiVersion": "",
        "metadata": {"name": "apiserver"},
        "startTime": format_time(started),
        "uptimeSeconds": int((now() - started).total_seconds()),
        "goVersion": version["goVersion"],
        "binaryVersion": version["gitVersion"].removeprefix("v"),
        "emulationVersion": f"{version['emulationMajor']}.{version['emulationMinor']}",
        "paths": list(_PATHS),
    }
    for clause in (accept or "text/plain").split(","):
        kind, *given = (part.strip() for part in clause.split(";"))
        if kind in ("*/*", "text/*", "text/plain"):
            return Response(status=200, headers=_TEXT, body=_text(status, started))
        served = _statusz_version(given)
        if kind in _STRUCTURED and served in ("v1alpha1", "v1beta1"):
            return _structured(kind, served, status)
    message = "only the following media types are accepted: application/json, application/yaml, text/plain"
    raise status_error(406, "NotAcceptable", message)


def _statusz_version(parameters: list[str]) -> str:
    """Return the version of the `Statusz` that a media type asks for; "" if it asks for none."""
    named = dict(each.split("=", 1) for each in parameters if "=" in each)
    is_statusz = (named.get("g"), named.get("as")) == ("config.k8s.io", "Statusz")
    return named.get("v", "") if is_statusz else ""


def _text(status: Mapping[str, Any], started: datetime) -> bytes:
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
    return (_HEADER + "".join(f"{name}: {value}\n" for name, value in lines.items())).encode()


def _structured(kind: str, served: str, status: dict[str, Any]) -> Response:
    status["apiVersion"] = f"config.k8s.io/{served}"
    headers = [("Content-Type", f"{kind};g=config.k8s.io;v={served};as=Statusz")]
    if served == "v1alpha1":
        headers.append(_DEPRECATED)
    if kind == "application/yaml":
        import yaml  # here: slow, and nothing else of a server's start needs it

        return Response(status=200, headers=headers, body=yaml.safe_dump(status).encode())
    return Response(status=200, headers=headers, body=msgspec.json.encode(status))
