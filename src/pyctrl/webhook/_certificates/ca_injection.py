"""Injection of the CA into ``caBundle`` of webhook configurations, CustomResourceDefinitions and APIServices."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.rbac import Permission, Resource, allow
from pyctrl.webhook._configuration import Service, Url

if TYPE_CHECKING:
    from pyctrl.client import Client

__all__ = ["CaInjection"]

_REGISTRATION = "admissionregistration.k8s.io"
_EXTENSIONS = "apiextensions.k8s.io"
_AGGREGATION = "apiregistration.k8s.io"
CONFIGURATIONS = (
    GroupVersionKind(_REGISTRATION, "v1", "MutatingWebhookConfiguration"),
    GroupVersionKind(_REGISTRATION, "v1", "ValidatingWebhookConfiguration"),
)
DEFINITION = GroupVersionKind(_EXTENSIONS, "v1", "CustomResourceDefinition")
API_SERVICE = GroupVersionKind(_AGGREGATION, "v1", "APIService")


class CaInjection:
    """Sets the ``caBundle`` of each ``clientConfig`` and APIService that names a target; the rest is unchanged.

    Configurations that do not exist yet are skipped. Those that have the bundle already are not written.
    """

    def __init__(
        self,
        client: Client,
        target: Service | Url,
        *,
        configurations: Iterable[str],
        definitions: Iterable[str],
        api_services: Iterable[str] = (),
    ) -> None:
        self._client = client
        self._target = target
        self._configurations = tuple(configurations)
        self._definitions = tuple(definitions)
        self._api_services = tuple(api_services)

    @property
    def rbac(self) -> Sequence[Permission]:
        """The permissions to read and write the configurations."""
        resources = [
            (Resource(_REGISTRATION, "mutatingwebhookconfigurations", False), self._configurations),
            (Resource(_REGISTRATION, "validatingwebhookconfigurations", False), self._configurations),
            (Resource(_EXTENSIONS, "customresourcedefinitions", False), self._definitions),
            (Resource(_AGGREGATION, "apiservices", False), self._api_services),
        ]
        return [allow(resource, "get", "update", names=names) for resource, names in resources if names]

    async def inject(self, bundle: bytes) -> None:
        """Write the bundle where it is missing.

        Raises:
            ApiError: a read or write failed; retry on Conflict.
            TransportError: the API server does not answer.
        """
        encoded = base64.b64encode(bundle).decode()
        async for found in self._found():
            stale = [config for config in self._configs(found) if config.get("caBundle") != encoded]
            for config in stale:
                config["caBundle"] = encoded
            if stale:
                await self._client.update(found)

    async def injected(self) -> set[bytes]:
        """Return the bundles that are in place now; invalid base64 is left out.

        Raises:
            ApiError: a read failed.
            TransportError: the API server does not answer.
        """
        encoded = {
            str(config.get("caBundle") or "") async for found in self._found() for config in self._configs(found)
        }
        return {bundle for each in encoded if (bundle := _decoded(each))}

    async def _found(self) -> AsyncIterator[Unstructured]:
        """Yield the configurations, definitions and APIServices, one after another."""
        wanted = [(kind, name) for kind in CONFIGURATIONS for name in self._configurations]
        wanted += [(DEFINITION, name) for name in self._definitions]
        wanted += [(API_SERVICE, name) for name in self._api_services]
        for kind, name in wanted:
            found = await self._client.find(kind, Key("", name))
            if found is not None:
                yield found

    def _configs(self, found: Unstructured) -> list[dict[str, Any]]:
        return [config for config in _client_configs(found) if self._target.is_meant_by(config)]


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded)
    except binascii.Error:
        return b""


def _client_configs(found: Unstructured) -> Iterator[dict[str, Any]]:
    if found.gvk == API_SERVICE:
        yield found["spec"]  # service and caBundle are here
    if found.gvk == DEFINITION:
        conversion = found["spec"].get("conversion") or {}
        if config := (conversion.get("webhook") or {}).get("clientConfig"):
            yield config
    for webhook in found.get("webhooks") or ():
        yield webhook["clientConfig"]
