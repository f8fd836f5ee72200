# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of coordination/v1 and their parts."""

from pydantic import Field

from pyctrl.api import MicroTime
from pyctrl.kinds._builtin import Kind, Part

__all__ = ["Lease", "LeaseSpec"]


class LeaseSpec(Part):
    """`spec` of Lease."""

    acquire_time: MicroTime | None = None
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    lease_transitions: int | None = None
    preferred_holder: str | None = None
    renew_time: MicroTime | None = None
    strategy: str | None = None


class Lease(Kind, group="coordination.k8s.io", version="v1", plural="leases"):
    """Lease of coordination.k8s.io/v1."""

    spec: LeaseSpec = Field(default_factory=LeaseSpec)
