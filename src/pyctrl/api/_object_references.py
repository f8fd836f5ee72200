"""Owner references, set and read as controllerutil does, and references to objects.

Two references name the same owner when group, kind and name are equal; version and uid may differ
(controller-runtime pkg/controller/controllerutil). An owner is in the namespace of its dependent, or cluster-scoped.
"""

from __future__ import annotations

from pyctrl.api._meta import OwnerReference
from pyctrl.api._names import GroupKind, GroupVersionKind
from pyctrl.api._openapi_models import ObjectLike, as_object, keep_metadata
from pyctrl.api._unstructured import Object
from pyctrl.errors import AlreadyOwned, CrossNamespaceOwner

__all__ = [
    "controller_of",
    "has_owner_reference",
    "is_controlled_by",
    "owner_reference",
    "reference_to",
    "remove_owner_reference",
    "set_controller_reference",
    "set_owner_reference",
]


def owner_reference(
    owner: ObjectLike, *, controller: bool | None = None, block_owner_deletion: bool | None = None
) -> OwnerReference:
    """Return a reference to ``owner``, which must exist in the cluster (the reference needs its uid).

    Raises:
        ValueError: the owner has no name or no uid yet.
    """
    return _reference(as_object(owner), controller, block_owner_deletion)


def _reference(owner: Object, controller: bool | None, block_owner_deletion: bool | None) -> OwnerReference:
    meta = owner.metadata
    if not (meta.name and meta.uid):
        raise ValueError(f"{owner.kind} {owner.key} has no uid yet: create it before it can own anything")
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=meta.name,
        uid=meta.uid,
        controller=controller,
        block_owner_deletion=block_owner_deletion,
    )


def controller_of(obj: ObjectLike) -> OwnerReference | None:
    """Return the owner reference of an object's controller, or None."""
    return _controller(as_object(obj))


def _controller(obj: Object) -> OwnerReference | None:
    return next((ref for ref in obj.metadata.owner_references if ref.controller), None)


def is_controlled_by(obj: ObjectLike, owner: ObjectLike) -> bool:
    """Return whether ``owner`` is the controller of ``obj``, compared by uid."""
    ref = controller_of(obj)
    return ref is not None and ref.uid == owner.metadata.uid


def has_owner_reference(obj: ObjectLike, owner: ObjectLike) -> bool:
    """Return whether ``obj`` has a reference to ``owner``, as its controller or not."""
    owner = as_object(owner)
    wanted = owner.gvk.group_kind, owner.metadata.name
    return any((_group_kind(ref), ref.name) == wanted for ref in as_object(obj).metadata.owner_references)


def set_controller_reference(owner: ObjectLike, obj: ObjectLike, *, block_owner_deletion: bool = True) -> bool:
    """Make ``owner`` the controller of ``obj``. Return whether anything changed.

    Raises:
        AlreadyOwned: another object is the controller of ``obj``.
        CrossNamespaceOwner: the owner is in another namespace, or is namespaced while the object is not.
    """
    owner, changed = as_object(owner), as_object(obj)
    present = _controller(changed)
    wanted = owner.gvk.group_kind, owner.metadata.name
    if present is not None and (_group_kind(present), present.name) != wanted:
        raise AlreadyOwned(f"{changed.kind} {changed.key}", f"{present.kind} {present.name}")
    return _set(owner, obj, changed, _reference(owner, True, block_owner_deletion))


def set_owner_reference(owner: ObjectLike, obj: ObjectLike, *, block_owner_deletion: bool | None = None) -> bool:
    """Make ``owner`` an owner of ``obj``, but not its controller. Return whether anything changed.

    Raises:
        CrossNamespaceOwner: as for `set_controller_reference`.
    """
    owner, changed = as_object(owner), as_object(obj)
    return _set(owner, obj, changed, _reference(owner, None, block_owner_deletion))


def remove_owner_reference(owner: ObjectLike, obj: ObjectLike) -> bool:
    """Remove the reference to ``owner``. Return whether there was one."""
    owner, changed = as_object(owner), as_object(obj)
    wanted = owner.gvk.group_kind, owner.metadata.name
    refs = changed.metadata.owner_references
    kept = [ref for ref in refs if (_group_kind(ref), ref.name) != wanted]
    changed.metadata.owner_references = kept
    keep_metadata(obj, changed)
    return len(kept) != len(refs)


def _set(owner: Object, obj: ObjectLike, changed: Object, reference: OwnerReference) -> bool:
    _check_namespaces(owner, changed)
    if not _is_put(changed.metadata.owner_references, reference):
        return False
    keep_metadata(obj, changed)
    return True


def _is_put(refs: list[OwnerReference], reference: OwnerReference) -> bool:
    """Put a reference among others, instead of one to the same owner. Return whether anything changed."""
    identity = _group_kind(reference), reference.name
    for position, ref in enumerate(refs):
        if (_group_kind(ref), ref.name) == identity:
            if ref == reference:
                return False
            refs[position] = reference
            return True
    refs.append(reference)
    return True


def _check_namespaces(owner: Object, obj: Object) -> None:
    owner_namespace, namespace = owner.metadata.namespace, obj.metadata.namespace
    if not owner_namespace or owner_namespace == namespace:
        return
    if not namespace:
        raise CrossNamespaceOwner(
            f"{owner.kind} {owner.key} is namespaced and cannot own the cluster-scoped {obj.kind} {obj.key}; "
            "if the latter is namespaced, set its metadata.namespace first"
        )
    raise CrossNamespaceOwner(
        f"{owner.kind} {owner.key} cannot own {obj.kind} {obj.key}: "
        f"owners must be in the same namespace ({namespace}) or cluster-scoped"
    )


def _group_kind(ref: OwnerReference) -> GroupKind:
    return GroupVersionKind.parse(ref.api_version, ref.kind).group_kind


def reference_to(obj: ObjectLike) -> dict[str, str]:
    """Return an ObjectReference to an object: kind, name and namespace, and uid and resourceVersion if it has them."""
    obj = as_object(obj)
    meta = obj.metadata
    reference = {
        "kind": obj.kind,
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
        "apiVersion": obj.api_version,
        "resourceVersion": meta.resource_version,
    }
    return {field: value for field, value in reference.items() if value}
