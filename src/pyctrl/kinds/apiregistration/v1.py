# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of apiregistration/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Time
from pyctrl.kinds._builtin import Kind, Part

__all__ = ["APIService", "APIServiceCondition", "APIServiceSpec", "APIServiceStatus", "ServiceReference"]


class ServiceReference(Part):
    """`service` of APIServiceSpec."""

    name: str | None = None
    namespace: str | None = None
    port: int | None = None


class APIServiceSpec(Part):
    """`spec` of APIService."""

    ca_bundle: str | None = None
    group: str | None = None
    group_priority_minimum: int = 0
    insecure_skip_tls_verify: bool | None = Field(
        default=None, validation_alias="insecureSkipTLSVerify", serialization_alias="insecureSkipTLSVerify"
    )
    service: ServiceReference | None = None
    version: str | None = None
    version_priority: int = 0


class APIServiceCondition(Part):
    """`conditions` of APIServiceStatus."""

    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class APIServiceStatus(Part):
    """`status` of APIService."""

    conditions: list[APIServiceCondition] = Field(default_factory=list)


class APIService(
    Kind,
    group="apiregistration.k8s.io",
    version="v1",
    plural="apiservices",
    scope="Cluster",
    categories=("api-extensions",),
    subresources=("status",),
):
    """APIService of apiregistration.k8s.io/v1."""

    spec: APIServiceSpec = Field(default_factory=APIServiceSpec)
    status: APIServiceStatus = Field(default_factory=APIServiceStatus)
