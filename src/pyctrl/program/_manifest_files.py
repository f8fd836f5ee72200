"""Objects in manifest files and samples: reading, and server-side apply in order of dependency."""

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
KUSTOMIZATION = "kustomization"  # lists files, and is not an object

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Manifest:
    """An object, with its file and document."""

    file: Path
    number: int  # of the document in the file, from 1
    obj: Object

    @property
    def rank(self) -> int:
        """The order of application: CRDs first, then namespaces, then other objects."""
        return {"CustomResourceDefinition": 0, "Namespace": 1}.get(self.obj["kind"], 2)

    def __str__(self) -> str:
        metadata = self.obj["metadata"]
        name = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
        return f"{self.file}, document {self.number} ({self.obj['kind']} {name})"


async def apply_files_in_process(server: ApiServer, paths: Iterable[Path]) -> None:
    """Apply the objects of files and directories to an in-process server; see `apply_files`."""
    async with Client.connect(Config.in_process(server, token=server.loopback_token), field_owner=OWNER) as client:
        await apply_files(client, paths)


async def apply_files(client: Client, paths: Iterable[Path]) -> int:
    """Apply the objects of files and directories server-side; return their number.

    After a CRD, waits until its kind is served. Skips kustomization files.

    Raises:
        CommandFailed: a document is not an object, or the server rejected one; the message names file and document.
    """
    manifests = [manifest for path in paths for file in manifest_files(path) for manifest in read_manifests(file)]
    for manifest in sorted(
        manifests, key=lambda manifest: manifest.rank
    ):  # stable: otherwise in the order of the files
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
    """Return a file, or the manifest files of a directory. Raises CommandFailed if it has none."""
    if not path.is_dir():
        return [path]
    found = (each for each in path.iterdir() if each.suffix in SUFFIXES and each.is_file())
    files = sorted(each for each in found if each.stem != KUSTOMIZATION)
    if not files:
        raise CommandFailed(f"{path} is a directory without *.yaml, *.yml or *.json files")
    return files


def read_manifests(file: Path) -> Iterator[Manifest]:
    """Yield the objects of a file. Raises CommandFailed if it cannot be read, or a document is not an object."""
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
    """Return the objects of a document: none if it is empty, several of a List."""
    if document is None:
        return []
    if isinstance(document, dict) and document.get("kind") == "List":
        return list(document.get("items") or [])
    return [document]


def _check_object(obj: Any, place: str) -> Object:
    if not isinstance(obj, dict):
        raise CommandFailed(f"{place}: expected an object with apiVersion and kind; found {type(obj).__name__}")
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
    """Return ``samples`` of a directory of manifests if it has files, and ``sample.yaml`` if it exists."""
    directory, file = config / DIRECTORY, config / FILE
    return [*([directory] if _sample_files(directory) else []), *([file] if file.is_file() else [])]


def find_samples(start: Path, *, above: int = 1) -> list[Path]:
    """Return the `sample_paths` of ``config`` in a directory or the nearest above it that has some.

    The search ends at the directory of a pyproject.toml, which bounds the project.

    Args:
        start: the directory.
        above: how many directories above it belong to a project without a pyproject.toml.
    """
    directories = (start, *start.parents)
    ends = (place for place, each in enumerate(directories) if (each / PROJECT).is_file())
    looked = directories[: next(ends, above) + 1]
    return next((found for each in looked if (found := sample_paths(each / CONFIG))), [])


def read_samples(config: Path) -> list[Manifest]:
    """Return the samples in a directory of manifests, by file.

    Raises:
        CommandFailed: a file cannot be read, or a document is not an object; the message names file and document.
    """
    files = [file for path in sample_paths(config) for file in (_sample_files(path) if path.is_dir() else [path])]
    return [manifest for file in files for manifest in read_manifests(file)]


def _sample_files(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    found = (each for each in directory.iterdir() if each.suffix in SUFFIXES and each.stem != KUSTOMIZATION)
    return sorted(each for each in found if each.is_file())
