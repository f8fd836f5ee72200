"""Health checks: `/healthz`, `/livez` and `/readyz`, with a path for each check and `?verbose` for all of them.

The checks are those of kube-apiserver that apply to a server in memory. They always pass.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._request.request import QueryParameters

__all__ = ["CHECKS", "NOT_FOUND", "health_response"]

TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
NOT_FOUND = Response(status=404, headers=TEXT, body=b"404 page not found\n")

CHECKS = {
    "healthz": ("ping", "log", "etcd"),
    "livez": ("ping", "log", "etcd"),
    "readyz": ("ping", "log", "etcd", "etcd-readiness", "informer-sync", "shutdown"),
}


def health_response(parts: Sequence[str], query: QueryParameters) -> Response:
    """Return the response to a path whose first segment is one of `CHECKS`."""
    checks = CHECKS[parts[0]]
    if len(parts) > 1:
        return _text("ok") if "/".join(parts[1:]) in checks else NOT_FOUND
    if not query.has("verbose"):
        return _text("ok")
    excluded = query.every("exclude")
    lines = [f"[+]{each} excluded: ok" if each in excluded else f"[+]{each} ok" for each in checks]
    if unknown := [each for each in excluded if each not in checks]:
        named = ",".join(f'"{each}"' for each in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {named}")
    return _text("\n".join([*lines, f"{parts[0]} check passed\n"]))


def _text(text: str) -> Response:
    return Response(status=200, headers=TEXT, body=text.encode())
