"""Health: `/healthz`, `/livez` and `/readyz`, each check by its own path, and all of them with `?verbose`.

A server in memory that answers at all is well; the checks are those of kube-apiserver that mean something here.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._request.request import QueryParameters

TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
NO_PAGE = Response(status=404, headers=TEXT, body=b"404 page not found\n")

CHECKS = {
    "healthz": ("ping", "log", "etcd"),
    "livez": ("ping", "log", "etcd"),
    "readyz": ("ping", "log", "etcd", "etcd-readiness", "informer-sync", "shutdown"),
}


def health_response(parts: Sequence[str], query: QueryParameters) -> Response:
    """Answer a path that begins with one of `CHECKS`."""
    checks = CHECKS[parts[0]]
    if len(parts) > 1:
        return _text("ok") if "/".join(parts[1:]) in checks else NO_PAGE
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
