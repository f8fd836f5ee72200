"""Status: the API server's answer to a request that returns no object.

It is a separate file because most programs handle errors (`pyctrl.errors`) and never import it.
"""

from __future__ import annotations

from pydantic import Field

from pyctrl.api._meta import ListMeta
from pyctrl.api._model.model import Model
from pyctrl.api._values import Int32

__all__ = ["Status", "StatusCause", "StatusDetails"]


class StatusCause(Model, defer_build=True):
    """Why a request was rejected, for one field."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Model, defer_build=True):
    """The object that a Status is about, and the causes of the failure."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: list[StatusCause] = Field(default_factory=list)
    retry_after_seconds: Int32 | None = None


class Status(Model, defer_build=True):
    """The server's answer to a request that returns no object: a failure, or a success without an object."""

    api_version: str = "v1"
    kind: str = "Status"
    metadata: ListMeta = Field(default_factory=ListMeta)
    status: str = ""
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: Int32 = 0
