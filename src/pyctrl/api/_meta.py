"""Object metadata, owner references and conditions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field

from pyctrl.api._model.model import Model
from pyctrl.api._secrets import HIDDEN, LAST_APPLIED
from pyctrl.api._values import Int64, Time

__all__ = ["Condition", "ListMeta", "ObjectMeta", "OwnerReference", "ShardInfo"]


class OwnerReference(Model, defer_build=True):
    """A reference to an owner of this object. The garbage collector deletes the object when its last owner is gone."""

    api_version: str
    """API version of the owner."""
    kind: str
    """Kind of the owner."""
    name: str
    """Name of the owner, which is in the same namespace or cluster-scoped."""
    uid: str
    """UID of the owner."""
    controller: bool | None = None
    """Whether this owner manages the object. An object has at most one such owner."""
    block_owner_deletion: bool | None = None
    """Whether foreground deletion of the owner waits until this object is gone."""


class ObjectMeta(Model, defer_build=True):
    """``metadata`` of an object. Absent strings read as ``""`` and are not written."""

    name: str = ""
    """Name of the object, unique among those of its kind in its namespace. It cannot be changed."""
    generate_name: str = ""
    """Prefix of the name that the server generates if `name` is empty."""
    namespace: str = ""
    """Namespace of the object; empty for cluster-scoped kinds. It cannot be changed."""
    uid: str = ""
    """Unique identifier, set by the server. A deleted and recreated object has another one."""
    resource_version: str = ""
    """Version of the stored object, set by the server. An update with an outdated one fails with Conflict."""
    generation: Int64 = 0
    """Number that the server increases with each change of the desired state."""
    creation_timestamp: Time | None = None
    """When the object was created, set by the server."""
    deletion_timestamp: Time | None = None
    """When deletion was requested, set by the server. The object exists until its finalizers are removed."""
    deletion_grace_period_seconds: Int64 | None = None
    """Seconds until the object is removed, set by the server when deletion is requested."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Names and values by which selectors find objects."""
    annotations: dict[str, str] = Field(default_factory=dict)
    """Names and values for tools and people; selectors do not see them."""
    finalizers: list[str] = Field(default_factory=list)
    """Names of tasks to do before the object is removed. It is removed when the list is empty."""
    owner_references: list[OwnerReference] = Field(default_factory=list)
    """Owners of this object. The garbage collector deletes it when the last of them is gone."""
    managed_fields: list[dict[str, Any]] = Field(default_factory=list)
    """Fields that each manager has set, for server-side apply."""
    self_link: str = ""
    """Unused: servers no longer set it."""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Show the fields that are set, without the whole object that kubectl writes into an annotation."""
        for name, value in super().__repr_args__():
            is_long = name == "annotations" and isinstance(value, dict) and LAST_APPLIED in value
            yield name, {**value, LAST_APPLIED: HIDDEN} if is_long else value


class ShardInfo(Model, defer_build=True):
    """The shard selector that was applied to a list, which has a part of the objects only (KEP-5866)."""

    selector: str = ""
    """The selector of the request."""


class ListMeta(Model, defer_build=True):
    """``metadata`` of a list: its resourceVersion and the token of the next page."""

    resource_version: str = ""
    """Version of the list, from which a watch can continue."""
    continue_: str = Field(default="", validation_alias="continue", serialization_alias="continue")
    """Token of the next page; empty on the last one."""
    remaining_item_count: Int64 | None = None
    """Number of items on the pages that follow, if the server knows it."""
    self_link: str = ""
    """Unused: servers no longer set it."""
    shard_info: ShardInfo | None = None
    """Set if the server has applied a shard selector."""


class Condition(Model, defer_build=True):
    """One aspect of an object's state.

    ``metav1.Condition``; change lists of them with `set_condition`.
    """

    type: str
    """Name of the aspect in CamelCase, such as `Ready`."""
    status: Literal["True", "False", "Unknown"]
    """Whether the condition is true, false or not known."""
    observed_generation: Int64 | None = None
    """`metadata.generation` of the object that this condition describes."""
    last_transition_time: Time | None = None
    """When `status` last changed."""
    reason: str = ""
    """Cause of the last transition in one CamelCase word, for programs."""
    message: str = ""
    """Details of the transition, for people."""
