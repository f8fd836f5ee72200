"""What a webhook is asked, made of objects: to test a decision as the function that it is."""

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
    """Return what an API server asks about a write, for a method of a `Defaulter` or a `Validator`.

        refused = PodSetValidation().validate_update(old, new, admission_request(new, old=old))

    Args:
        obj: what is to be stored; of a deletion, what is to go.
        old: what is stored; None for a creation.
        operation: by default an update if there is something old, and a creation if not.
        username: who wants it.
        groups: of this user.
        dry_run: whether nothing will be stored.
    """
    asked = Operation(operation or ("CREATE" if old is None else "UPDATE"))
    is_gone = asked is Operation.DELETE
    resource = GroupVersionResource(obj.gvk.group, obj.gvk.version, obj.resource.plural)
    before = obj if is_gone else old
    return AdmissionRequest(
        uid="00000000-0000-0000-0000-000000000000",
        kind=obj.gvk,
        resource=resource,
        request_kind=obj.gvk,
        request_resource=resource,
        operation=asked,
        user=UserInfo(username=username, groups=tuple(groups)),
        name=obj.metadata.name,
        namespace=obj.metadata.namespace,
        dry_run=dry_run,
        object=None if is_gone else obj.to_wire(),
        old_object=before.to_wire() if before is not None else None,
    )


def sample_of(kind: type[T]) -> T:
    """Return an object of a custom kind: the project's own sample of its version, or one that is made up.

    The project's are those of ``config/samples`` and ``config/sample.yaml``, in the directory of the class's module or
    above, up to pyproject.toml; the first is taken, in the order of the files. Without one, `pyctrl.manifests.sample`
    makes one up, with what has to be said.

    Raises:
        CommandFailed: a file of samples cannot be read.
        DecodeError: the class has rules of its own that what was made up breaks; say an example with
            ``Field(examples=[…])``, or make the object yourself.
        DefinitionError: its types cannot be a definition.
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
