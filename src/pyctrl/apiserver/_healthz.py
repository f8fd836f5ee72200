"""Health checks: `/healthz`, `/livez` and `/readyz`, with a path for each check and `?verbose` for all of them.

The checks are those of kube-apiserver 1.36, in its order. What they check is done when this server exists, so they
always pass.
"""

from __future__ import annotations

from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._request.request import QueryParameters

__all__ = ["CHECKS", "NOT_FOUND", "health_response"]

TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
NOT_FOUND = Response(status=404, headers=TEXT, body=b"404 page not found\n")

_BASIC = ("ping", "log", "loopback-serving-certificate", "etcd")
_HOOKS = (
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
)

CHECKS = {
    "healthz": (*_BASIC, *_HOOKS),
    "livez": (*_BASIC, *_HOOKS),
    "readyz": ("ping", "log", "etcd", "etcd-readiness", "informer-sync", *_HOOKS, "shutdown"),
}


def health_response(path: str, query: QueryParameters) -> Response:
    """Return the response to a path that begins with one of `CHECKS`."""
    kind, has_name, name = path.removeprefix("/").partition("/")
    checks = CHECKS[kind]
    if has_name:
        return _text("ok") if name in checks else NOT_FOUND
    if not query.has("verbose"):
        return _text("ok")
    excluded = query.every("exclude")
    lines = [f"[+]{each} excluded: ok" if each in excluded else f"[+]{each} ok" for each in checks]
    if unknown := sorted({*excluded}.difference(checks)):
        named = ",".join(f'"{each}"' for each in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {named}")
    return _text("\n".join([*lines, f"{kind} check passed\n"]))


def _text(text: str) -> Response:
    return Response(status=200, headers=TEXT, body=text.encode())
