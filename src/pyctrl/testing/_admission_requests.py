"""Admission requests made from objects, to test a webhook's decision as a function."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pyctrl.api import CustomResource, GroupVersionResource, KubernetesObject
from pyctrl.manifests import definition, sample
from pyctrl.program import find_samples, manifest_files, read_manifests
from pyctrl.webhook import AdmissionRequest, Operation, UserInfo

__all__ = ["admission_request", "sample_of"]

T = TypeVar("T", bound=CustomResource[Any, Any])


def admission_request(
    obj: KubernetesObject,
    *,
    old: KubernetesObject | None = None,
    operation: Operation | str = "",
    username: str = "jane",
    groups: Iterable[str] = ("system:authenticated",),
    dry_run: bool = False,
) -> AdmissionRequest:
    """Return the request that an API server sends about a write, for a method of a `Defaulter` or a `Validator`.

        refused = PodSetValidation().validate_update(old, new, admission_request(new, old=old))

    Args:
        obj: the object to store; for a deletion, the object to delete.
        old: the stored object; None for a creation.
        operation: by default UPDATE if there is an ``old``, else CREATE.
        username: the user of the write.
        groups: the groups of this user.
        dry_run: whether the write is a dry run.
    """
    operation = Operation(operation or ("CREATE" if old is None else "UPDATE"))
    is_gone = operation is Operation.DELETE
    resource = GroupVersionResource(obj.gvk.group, obj.gvk.version, obj.resource.plural)
    before = obj if is_gone else old
    return AdmissionRequest(
        uid="00000000-0000-0000-0000-000000000000",
        kind=obj.gvk,
        resource=resource,
        request_kind=obj.gvk,
        request_resource=resource,
        operation=operation,
        user=UserInfo(username=username, groups=tuple(groups)),
        name=obj.metadata.name,
        namespace=obj.metadata.namespace,
        dry_run=dry_run,
        object=None if is_gone else obj.to_wire(),
        old_object=before.to_wire() if before is not None else None,
    )


def sample_of(kind: type[T]) -> T:
    """Return an object of a custom kind: the project's own sample of its version, or a generated one.

    The project's samples are ``config/samples`` and ``config/sample.yaml`` in the directory of the class's module or a
    parent, up to the one with pyproject.toml. The first match in the order of the files is returned. Without one,
    `pyctrl.manifests.sample` generates one with the required fields.

    Raises:
        CommandFailed: a sample file cannot be read.
        DecodeError: the generated sample violates the class's own validation; give an example with
            ``Field(examples=[…])``, or make the object yourself.
        DefinitionError: no definition can be generated from its types.
    """
    wire = next((each for each in _samples_beside(kind) if _is_of(each, kind)), None)
    return kind.from_wire(wire if wire is not None else sample(definition(kind)))


def _samples_beside(kind: type[KubernetesObject]) -> Iterator[dict[str, Any]]:
    try:
        file = inspect.getsourcefile(kind)
    except (OSError, TypeError):  # made by a call, or typed into a console
        return
    for path in find_samples(Path(file).resolve().parent) if file else ():
        for each in manifest_files(path):
            yield from (manifest.obj for manifest in read_manifests(each))


def _is_of(obj: dict[str, Any], kind: type[KubernetesObject]) -> bool:
    return (obj["apiVersion"], obj["kind"]) == (kind.gvk.api_version, kind.gvk.kind)
