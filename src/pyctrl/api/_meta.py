"""Object metadata, owner references and conditions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field

from pyctrl.api._model.model import Model
from pyctrl.api._secrets import HIDDEN, LAST_APPLIED
from pyctrl.api._values import Int64, Time

__all__ = ["Condition", "ListMeta", "ObjectMeta", "OwnerReference"]


class OwnerReference(Model, defer_build=True):
    """A reference to an owner of this object. The garbage collector deletes the object when its last owner is gone."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Model, defer_build=True):
    """``metadata`` of an object. Absent strings read as ``""`` and are not written."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: Int64 | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    finalizers: list[str] = Field(default_factory=list)
    owner_references: list[OwnerReference] = Field(default_factory=list)
    managed_fields: list[dict[str, Any]] = Field(default_factory=list)
    self_link: str = ""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Show the fields that are set, without the whole object that kubectl writes into an annotation."""
        for name, value in super().__repr_args__():
            is_long = name == "annotations" and isinstance(value, dict) and LAST_APPLIED in value
            yield name, {**value, LAST_APPLIED: HIDDEN} if is_long else value


class ListMeta(Model, defer_build=True):
    """``metadata`` of a list: its resourceVersion and the token of the next page."""

    resource_version: str = ""
    continue_: str = Field(default="", validation_alias="continue", serialization_alias="continue")
    remaining_item_count: Int64 | None = None
    self_link: str = ""


class Condition(Model, defer_build=True):
    """One aspect of an object's state.

    ``metav1.Condition``; change lists of them with `set_condition`.
    """

    type: str
    status: Literal["True", "False", "Unknown"]
    observed_generation: Int64 | None = None
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""
