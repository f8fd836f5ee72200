"""Objects that `pyctrl rbac doctor` examines, read from a cluster or from files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyctrl.api import GroupVersionKind, KubernetesObject, Metadata, Unstructured
from pyctrl.apiserver import read_documents
from pyctrl.client import Client
from pyctrl.errors import ApiError, CommandFailed, DecodeError, Forbidden, NotFound, UnknownKind
from pyctrl.kinds import BUILTIN_KINDS
from pyctrl.rbac import Finding, ServedResource, find_tokens

__all__ = ["CollectedObjects", "read_cluster", "read_files"]

OBJECTS = (".yaml", ".yml", ".json")
TEXTS = (".py", ".env", ".sh")  # suffixes of files with tokens; other files are read if named

_RBAC, _APPS, _BATCH = "rbac.authorization.k8s.io", "apps", "batch"
_CLUSTER_KINDS = (
    GroupVersionKind(_RBAC, "v1", "ClusterRole"),
    GroupVersionKind(_RBAC, "v1", "ClusterRoleBinding"),
    GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
)
_ACCESS_KINDS = (  # in all namespaces: any may have a binding of an account
    GroupVersionKind(_RBAC, "v1", "Role"),
    GroupVersionKind(_RBAC, "v1", "RoleBinding"),
    GroupVersionKind("", "v1", "ServiceAccount"),
)
_WORKLOAD_KINDS = (
    GroupVersionKind(_APPS, "v1", "Deployment"),
    GroupVersionKind(_APPS, "v1", "StatefulSet"),
    GroupVersionKind(_APPS, "v1", "DaemonSet"),
    GroupVersionKind(_APPS, "v1", "ReplicaSet"),
    GroupVersionKind(_BATCH, "v1", "Job"),
    GroupVersionKind(_BATCH, "v1", "CronJob"),
    GroupVersionKind("", "v1", "Pod"),
)
_SECRET = GroupVersionKind("", "v1", "Secret")


@dataclass(slots=True, kw_only=True)
class CollectedObjects:
    """The objects that were read, and the errors of those that were not."""

    objects: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)  # of files that are not objects
    unread: list[str] = field(default_factory=list)
    complete: dict[str, frozenset[str]] | None = None
    served: list[ServedResource] | None = None

    def took(self, kind: str, place: str, objects: Iterable[Mapping[str, Any]]) -> None:
        """Record that all objects of a kind were read in a namespace; "" is all namespaces."""
        self.objects += [(obj, "") for obj in objects]
        self.complete = {**(self.complete or {}), kind: frozenset((place,))}


# --- a cluster ---


async def read_cluster(client: Client, *, namespace: str | None, own_namespace: str) -> CollectedObjects:
    """Read all objects that grant permissions, and the workloads that use them.

    Args:
        namespace: the namespace of the workloads; None: all.
        own_namespace: the namespace to read if listing all namespaces is forbidden.
    """
    read = CollectedObjects(complete={})
    try:
        read.served = [_served(each) for each in await client.discovery.mappings()]
    except (Forbidden, NotFound) as error:
        read.unread.append(f"discovery: {_sentence(error)}")
    wanted: list[tuple[GroupVersionKind, type[KubernetesObject] | None, str | None]] = [
        *((kind, None, None) for kind in (*_CLUSTER_KINDS, *_ACCESS_KINDS)),
        *((kind, None, namespace) for kind in _WORKLOAD_KINDS),
        (_SECRET, Metadata.of(_SECRET), namespace),  # metadata only, without the secret data
    ]
    async with asyncio.TaskGroup() as tasks:
        for gvk, view, where in wanted:
            is_namespaced = gvk not in _CLUSTER_KINDS
            places = (where, own_namespace) if is_namespaced and where != own_namespace else (where,)
            tasks.create_task(_read_kind(client, read, gvk, view, places))
    read.unread.sort()
    return read


async def _read_kind(
    client: Client,
    read: CollectedObjects,
    gvk: GroupVersionKind,
    view: type[KubernetesObject] | None,
    places: Iterable[str | None],
) -> None:
    """Read the objects of a kind in the first of the namespaces that allows it."""
    refusal, only = "", ""
    for place in places:
        try:
            found = [_wire(obj, gvk) async for obj in client.each(view or gvk, namespace=place)]
        except (Forbidden, NotFound, UnknownKind) as error:
            refusal = refusal or _sentence(error)
            continue
        read.took(gvk.kind, place or "", found)
        only = f" outside the namespace {place}" if refusal else ""
        break
    if refusal:
        read.unread.append(f"{gvk.kind}s{only}: {refusal}")


def _sentence(error: ApiError | UnknownKind) -> str:
    return error.message if isinstance(error, ApiError) else str(error)


def _wire(obj: Any, gvk: GroupVersionKind) -> dict[str, Any]:
    return {**obj.to_wire(), "apiVersion": gvk.api_version, "kind": gvk.kind}


def _served(mapping: Any) -> ServedResource:
    return ServedResource(
        group=mapping.gvk.group,
        plural=mapping.plural,
        kind=mapping.gvk.kind,
        namespaced=mapping.namespaced,
        singular=mapping.singular,
        short_names=mapping.short_names,
        subresources=mapping.subresources,
        verbs=mapping.verbs,
    )


# --- files ---

KUSTOMIZATION = "kustomization"  # lists files, and is not an object


def read_files(paths: Iterable[Path]) -> CollectedObjects:
    """Read the objects of YAML and JSON files, and search others for tokens. Directories are read recursively.

    Raises:
        CommandFailed: a file does not exist, or no file has an object.
    """
    read = CollectedObjects()
    files = [file for path in paths for file in _files(path) if file.stem != KUSTOMIZATION]
    for file in files:
        try:
            text = file.read_bytes()
        except OSError as error:
            raise CommandFailed(f"{file}: {error.strerror}") from error
        if file.suffix in OBJECTS:
            read.objects += _objects(file, text, read.unread)
        else:
            read.findings += find_tokens(text.decode(errors="replace"), str(file))
    if not read.objects and not read.findings:
        problems = "".join(f"\n  {each}" for each in read.unread)
        raise CommandFailed(f"no object in {', '.join(map(str, paths))}{problems}")
    return read


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    yield from sorted(each for each in path.rglob("*") if each.suffix in (*OBJECTS, *TEXTS) and each.is_file())


def _objects(file: Path, text: bytes, unread: list[str]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Return the objects of a file; record other documents, such as templates and settings."""
    try:
        for number, document in enumerate(read_documents(text), 1):
            source = f"{file}, document {number}"
            for obj in _items(document):
                try:
                    yield _well_formed(obj), source
                except DecodeError as error:
                    unread.append(f"{source}: {error}")
    except ValueError as error:
        unread.append(f"{file}: {error}")


def _well_formed(obj: Any) -> Mapping[str, Any]:
    """Return an object in the form in which a server returns it; unchanged if its kind is unknown.

    Raises:
        DecodeError: it is not an object, or does not decode as its kind.
    """
    is_object = isinstance(obj, dict) and all(isinstance(obj.get(part), str) for part in ("apiVersion", "kind"))
    if not is_object or not isinstance(obj.get("metadata"), dict):
        raise DecodeError("not an object with apiVersion, kind and metadata")
    gvk = GroupVersionKind.parse(obj["apiVersion"], obj["kind"])
    builtin = BUILTIN_KINDS.get(gvk)
    read = Unstructured.from_wire(obj) if builtin is None else builtin.load(gvk.kind).from_wire(obj)
    return {**read.to_wire(), "metadata": read.metadata.to_wire()}


def _items(document: Any) -> list[Any]:
    if document is None:
        return []
    if isinstance(document, dict) and str(document.get("kind", "")).endswith("List") and "items" in document:
        return list(document["items"] or [])
    return [document]
