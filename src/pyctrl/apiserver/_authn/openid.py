"""OpenID discovery documents: the issuer and the public keys of service account tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from pyctrl.apiserver._authn import ISSUER, ServiceAccountTokens
from pyctrl.apiserver._errors import JSON, Response, method_not_allowed, not_acceptable, resource_not_served

__all__ = ["OpenIDMetadata"]


CONFIGURATION, KEYS = "/.well-known/openid-configuration", "/openid/v1/jwks"
KEY_SET = "application/jwk-set+json"
_CACHED = ("Cache-Control", "public, max-age=3600")
_HOST = "kubernetes.default.svc"  # for in-process requests, which have no Host header


class OpenIDMetadata:
    """The OpenID configuration and the JSON web key set of the service account issuer."""

    def __init__(self, accounts: ServiceAccountTokens) -> None:
        self._accounts = accounts

    def answer(self, method: str, path: str, headers: Mapping[str, str]) -> Response | None:
        """Return the response for one of the two documents; None for other paths."""
        if path == CONFIGURATION:
            return _document(method, JSON, headers, self._configuration(headers.get("host", _HOST)))
        if path == KEYS:
            public = self._accounts.signer.key.public()
            return _document(method, KEY_SET, headers, {"keys": [public] if public else []})
        if path.startswith((f"{CONFIGURATION}/", f"{KEYS}/")):
            raise resource_not_served()
        return None

    def _configuration(self, host: str) -> dict[str, Any]:
        return {
            "issuer": ISSUER,
            "jwks_uri": f"https://{host}{KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self._accounts.signer.key.algorithm],
        }


def _document(method: str, media: str, headers: Mapping[str, str], document: dict[str, Any]) -> Response:
    if method != "GET":
        raise method_not_allowed()
    accepted = [each.partition(";")[0].strip() for each in headers.get("accept", "*/*").split(",")]
    if not {media, "*/*", ""} & set(accepted):  # not `application/*`, as upstream
        raise not_acceptable([media])
    return Response(status=200, headers=(("Content-Type", media), _CACHED), body=msgspec.json.encode(document))
