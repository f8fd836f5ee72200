"""Definitions from wherever they are: files, a cluster, or the classes of a program."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pyctrl.api import GroupVersionKind, Key
from pyctrl.errors import CommandFailed, NotFound

if TYPE_CHECKING:
    from pyctrl.api import KubernetesObject
    from pyctrl.client import Client, Config
    from pyctrl.manifests import Document

    from ._login import Login

__all__ = [
    "CLUSTER",
    "SUFFIXES",
    "definitions_beside",
    "definitions_of",
    "files_of",
    "is_definition",
    "kinds_of",
    "read_file",
    "read_source",
]

SUFFIXES = (".yaml", ".yml", ".json")
CLUSTER = "cluster"
BASES = Path("config/crd/bases")  # where kubebuilder's projects, and ours, keep definitions
DEFINITION = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")

_OVERLOOKED = ("FieldUnknown", "FieldDuplicate")
_OF_CHARTS = (
    "metadata.labels",
    "metadata.annotations",
)  # where definitions in charts have templates, as cert-manager's

Definition = Mapping[str, Any]


def read_source(source: str, login: Login, *, quiet: bool = False) -> list[Definition]:
    """Give the definitions of a file or folder, of a cluster (``cluster:NAME`` or ``cluster``), or of a program.

    Raises:
        CommandFailed: there are none, or it cannot be read.
    """
    place, _, name = source.partition(":")
    if place == CLUSTER:
        return _of_cluster(name, login, quiet=quiet)
    if source == "-" or (Path(source).exists() and not source.endswith(".py")):
        files = files_of(Path(source))
        found = [each for file in files for each in read_file(file, lenient=True) if is_definition(each)]
        if not found:
            raise CommandFailed(f"there is no CustomResourceDefinition in {source}")
        return [_sound(each) for each in found]
    if not source.endswith(".py") and (source.endswith(SUFFIXES) or "/" in source):
        raise CommandFailed(f"there is no file {source}")
    return definitions_of(source)


def definitions_beside(files: Iterable[Path] = (Path("-"),)) -> list[Path]:
    """Find `config/crd/bases` in the folder of each file, or in the nearest above that has it; ``-`` is here."""
    found: dict[Path, None] = {}
    for file in files:
        start = Path.cwd() if str(file) == "-" else file.resolve()
        bases = next((each / BASES for each in (start, *start.parents) if (each / BASES).is_dir()), None)
        if bases is not None and any(each.suffix in SUFFIXES for each in bases.iterdir()):
            found[Path(os.path.relpath(bases))] = None
    return list(found)


def files_of(path: Path) -> list[Path]:
    """Give a file, or the files below a folder that may have objects. Raises CommandFailed."""
    if not path.is_dir():
        return [path]
    files = sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file())
    if not files:
        raise CommandFailed(f"{path} is a directory without a file *.yaml, *.yml or *.json")
    return files


def read_file(file: Path, *, lenient: bool = False) -> list[Document]:
    """Give the objects of a file; ``-`` is what comes in. Raises CommandFailed: it cannot be read.

    Args:
        file: a file, not a folder.
        lenient: pass over what is no object.
    """
    from pyctrl.manifests import read_documents  # here: help needs none of it

    source = "<stdin>" if str(file) == "-" else str(file)
    try:
        text = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return list(read_documents(text, source, lenient=lenient))
    except OSError as error:
        raise CommandFailed(f"{source}: {error.strerror}") from error
    except ValueError as error:
        raise CommandFailed(f"{source}: {error}") from error


def is_definition(document: Document) -> bool:
    """Say whether an object is a definition."""
    return document.obj.get("kind") == DEFINITION.kind


def _sound(document: Document) -> Definition:
    """Give a definition that is one: what it says more than the server knows does no harm."""
    from pyctrl.manifests import Validator

    found = Validator().define(document).problems
    problems = [each for each in found if each.reason not in _OVERLOOKED and not each.path.startswith(_OF_CHARTS)]
    if problems:
        told = "".join(f"\n  {document.source}:{each.line}:{each.column}: {each}" for each in problems)
        raise CommandFailed(f"{document.source} is no definition that a server would take:{told}")
    return dict(document.obj)


# -- a cluster -------------------------------------------------------------------------------------------------------


def _of_cluster(name: str, login: Login, *, quiet: bool) -> list[Definition]:
    async def read(client: Client, config: Config) -> list[Definition]:
        if not name:
            return [each.to_wire() for each in (await client.list(DEFINITION)).items]
        try:
            return [(await client.get(DEFINITION, Key("", name))).to_wire()]
        except NotFound as error:
            names = [each.metadata.name for each in (await client.list(DEFINITION)).items]
            raise CommandFailed(f"{error}{_near(name, names)}") from error

    return login.run(read, quiet=quiet)


def _near(name: str, names: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(names), n=3) or [each for each in names if each.startswith(name)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


# -- a program -------------------------------------------------------------------------------------------------------


def definitions_of(target: str) -> list[Definition]:
    """Give the definitions of the classes of a program: a module, or a file of Python. Raises CommandFailed."""
    from pyctrl.manifests import definition  # here: see above

    by_kind: dict[Any, list[type[KubernetesObject]]] = {}
    for kind in kinds_of(target):
        by_kind.setdefault(kind.gvk.group_kind, []).append(kind)
    return [definition(*kinds) for kinds in by_kind.values()]


def kinds_of(target: str) -> list[type[KubernetesObject]]:
    """Give the classes of custom kinds that a module, a package or a file of Python has. Raises CommandFailed: none."""
    from pyctrl.manager import Target, modules_of

    place = Target.parse(target).place.load()
    # `pyctrl create api` puts each kind into a module of its own
    found = list(dict.fromkeys(kind for module in modules_of(place) for kind in _kinds(module)))
    if not found:
        raise CommandFailed(f"{target} has no class of a kind: class Name(CustomResource[Spec, Status], group=…, …)")
    return found


def _kinds(module: ModuleType) -> Iterator[type[KubernetesObject]]:
    from pyctrl.api import KubernetesObject

    for value in dict.fromkeys(each for each in vars(module).values() if inspect.isclass(each)):
        if issubclass(value, KubernetesObject) and hasattr(value, "gvk") and not value.__module__.startswith("pyctrl."):
            yield value
