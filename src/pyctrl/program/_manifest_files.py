"""Objects from files, applied in an order in which each finds what it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyctrl.api import GroupVersionKind
from pyctrl.apiserver import ApiServer, read_documents
from pyctrl.client import Client, Config
from pyctrl.errors import CommandFailed, PyctrlError
from pyctrl.program._crd_installation import install_definition

__all__ = [
    "Manifest",
    "apply_files",
    "apply_files_in_process",
    "find_samples",
    "manifest_files",
    "read_manifests",
    "read_samples",
    "sample_paths",
]


SUFFIXES = (".yaml", ".yml", ".json")
OWNER = "pyctrl-load"
KUSTOMIZATION = "kustomization"  # lists files, and is no object

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object, and where it was written."""

    file: Path
    number: int  # of its document in the file, from 1
    obj: Object

    @property
    def rank(self) -> int:
        """Definitions come first, then namespaces, then the rest."""
        return {"CustomResourceDefinition": 0, "Namespace": 1}.get(self.obj["kind"], 2)

    def __str__(self) -> str:
        metadata = self.obj["metadata"]
        name = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
        return f"{self.file}, document {self.number} ({self.obj['kind']} {name})"


async def apply_files_in_process(server: ApiServer, paths: Iterable[Path]) -> None:
    """Apply the objects of files, and of the files in directories, to a server in this process; see `apply_files`."""
    async with Client.connect(Config.in_process(server, token=server.loopback_token), field_owner=OWNER) as client:
        await apply_files(client, paths)


async def apply_files(client: Client, paths: Iterable[Path]) -> int:
    """Apply the objects of files, and of the files in directories, server-side; gives how many there were.

    After a definition, what it defines is waited for. What only kustomize understands is left out.

    Raises:
        CommandFailed: a file has something that is no object, or the server refused one; names file and document.
    """
    manifests = [manifest for path in paths for file in manifest_files(path) for manifest in read_manifests(file)]
    for manifest in sorted(manifests, key=lambda manifest: manifest.rank):  # otherwise as they were written
        try:
            await _apply(client, manifest)
        except (PyctrlError, TimeoutError) as error:
            raise CommandFailed(f"{manifest}: {error}") from error
    return len(manifests)


async def _apply(client: Client, manifest: Manifest) -> None:
    obj, metadata = manifest.obj, manifest.obj["metadata"]
    if manifest.rank == 0:
        await install_definition(client, obj)
        return
    mapping = await client.discovery.mapping(GroupVersionKind.parse(obj["apiVersion"], obj["kind"]))
    if mapping.namespaced:
        metadata.setdefault("namespace", "default")
    await client.apply(obj, force=True)


def manifest_files(path: Path) -> list[Path]:
    """Return the files with objects that a path means. Raises CommandFailed: it is a directory without any."""
    if not path.is_dir():
        return [path]
    found = (each for each in path.iterdir() if each.suffix in SUFFIXES and each.is_file())
    files = sorted(each for each in found if each.stem != KUSTOMIZATION)
    if not files:
        raise CommandFailed(f"{path} is a directory without a file *.yaml, *.yml or *.json")
    return files


def read_manifests(file: Path) -> Iterator[Manifest]:
    """Give the objects of a file. Raises CommandFailed: it cannot be read, or has something that is no object."""
    try:
        documents = enumerate(read_documents(file.read_bytes()), 1)
        for number, document in documents:
            for obj in _objects(document):
                yield Manifest(file, number, _check_object(obj, f"{file}, document {number}"))
    except OSError as error:
        raise CommandFailed(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise CommandFailed(f"{file}: {error}") from error


def _objects(document: Any) -> list[Any]:
    """Give the objects of a document: none of an empty one, several of a List."""
    if document is None:
        return []
    if isinstance(document, dict) and document.get("kind") == "List":
        return list(document.get("items") or [])
    return [document]


def _check_object(obj: Any, place: str) -> Object:
    if not isinstance(obj, dict):
        raise CommandFailed(f"{place}: an object was expected, with apiVersion and kind; found {type(obj).__name__}")
    for field in ("apiVersion", "kind"):
        if not isinstance(obj.get(field), str):
            raise CommandFailed(f"{place}: the object has no {field}")
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise CommandFailed(f"{place}: the {obj['kind']} has no metadata.name")
    return obj


CONFIG, DIRECTORY, FILE = "config", "samples", "sample.yaml"
PROJECT = "pyproject.toml"


def sample_paths(config: Path) -> list[Path]:
    """Return ``samples`` of a directory of manifests, if there are files in it, and ``sample.yaml``, if it is there."""
    directory, file = config / DIRECTORY, config / FILE
    return [*([directory] if _sample_files(directory) else []), *([file] if file.is_file() else [])]


def find_samples(start: Path) -> list[Path]:
    """Return the `sample_paths` of ``config`` in a directory or the nearest above it that has some.

    Looked for up to the directory of a pyproject.toml or the current directory: what is above is no part of the
    project. Where neither is above, only the directory itself and its parent are looked into.
    """
    above = (start, *start.parents)
    ends = (place for place, each in enumerate(above) if (each / PROJECT).is_file() or each == Path.cwd())
    looked = above[: next(ends, 1) + 1]
    return next((found for each in looked if (found := sample_paths(each / CONFIG))), [])


def read_samples(config: Path) -> list[Manifest]:
    """Return the samples in a directory of manifests, by file.

    Raises:
        CommandFailed: a file cannot be read, or has something that is no object; names file and document.
    """
    files = [file for path in sample_paths(config) for file in (_sample_files(path) if path.is_dir() else [path])]
    return [manifest for file in files for manifest in read_manifests(file)]


def _sample_files(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    found = (each for each in directory.iterdir() if each.suffix in SUFFIXES and each.stem != KUSTOMIZATION)
    return sorted(each for each in found if each.is_file())
