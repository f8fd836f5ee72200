"""Status: what a server answers when there is no object to give.

In a file of its own, since most programs see errors instead (`pyctrl.errors`) and import none of it.
"""

from __future__ import annotations

from pydantic import Field

from pyctrl.api._meta import ListMeta
from pyctrl.api._model.model import Model
from pyctrl.api._values import Int32

__all__ = ["Status", "StatusCause", "StatusDetails"]


class StatusCause(Model, defer_build=True):
    """Why a request was refused, at one field."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Model, defer_build=True):
    """What a Status is about."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: list[StatusCause] = Field(default_factory=list)
    retry_after_seconds: Int32 | None = None


class Status(Model, defer_build=True):
    """The server's answer when there is no object to give: a failure, or a success without one."""

    api_version: str = "v1"
    kind: str = "Status"
    metadata: ListMeta = Field(default_factory=ListMeta)
    status: str = ""
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: Int32 = 0
