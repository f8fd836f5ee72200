"""Sources of CRDs: files, a cluster, or the classes of a program."""

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
    from pyctrl.cli._client_flags import ClientFlags
    from pyctrl.client import Client, Config
    from pyctrl.manifests import Document

__all__ = [
    "CLUSTER",
    "SUFFIXES",
    "definitions_beside",
    "definitions_of",
    "files_of",
    "is_definition",
    "project_definitions",
    "project_program",
    "read_file",
    "read_source",
]

SUFFIXES = (".yaml", ".yml", ".json")
CLUSTER = "cluster"
BASES = Path("config/crd/bases")  # where projects of kubebuilder and pyctrl keep CRDs
DEFINITION = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")

_OVERLOOKED = ("FieldUnknown", "FieldDuplicate")
_OF_CHARTS = (
    "metadata.labels",
    "metadata.annotations",
)  # where CRDs in charts have templates, as those of cert-manager

Definition = Mapping[str, Any]


def read_source(
    source: str, login: ClientFlags, *, quiet: bool = False, is_converted: bool = False
) -> list[Definition]:
    """Return the CRDs of a file or folder, of a cluster (``cluster:NAME`` or ``cluster``), or of a program.

    A folder with a pyproject.toml that names a program, or with a package and no CRDs, is that program. For
    ``is_converted`` see `definitions_of`.

    Raises:
        CommandFailed: there are none, or the source cannot be read.
    """
    place, _, name = source.partition(":")
    if place == CLUSTER:
        return _of_cluster(name, login, quiet=quiet)
    if program := _program_in(Path(source)):
        return definitions_of(program, is_converted=is_converted)
    if source == "-" or (Path(source).exists() and not source.endswith(".py")):
        files = files_of(Path(source))
        found = [each for file in files for each in read_file(file, lenient=True) if is_definition(each)]
        if not found:
            raise CommandFailed(f"no CustomResourceDefinition in {source}")
        return [_check_definition(each) for each in found]
    if not source.endswith(".py") and (source.endswith(SUFFIXES) or "/" in source):
        raise CommandFailed(f"no such file: {source}")
    return definitions_of(source, is_converted=is_converted)


def _program_in(folder: Path) -> str:
    """Return the name of the program of a folder that is a project or a package; "" if it is neither."""
    if not folder.is_dir():
        return ""
    if (folder / "pyproject.toml").is_file() and (program := project_program(folder)):
        return program
    is_package = any((folder / f"{name}.py").is_file() for name in ("__init__", "__main__"))
    return str(folder) if is_package and not any(each.suffix in SUFFIXES for each in folder.rglob("*")) else ""


def project_program(start: Path) -> str:
    """Return the program that the pyproject.toml of a folder or the nearest one above names; "" if none does."""
    from pyctrl.packaging import read_settings  # here: imports a TOML parser

    settings = read_settings(start)
    return settings.target if settings.program else ""


def project_definitions(start: Path) -> list[Definition]:
    """Return the CRDs of the classes of the project that contains a folder; none without a project or kind.

    Raises:
        CommandFailed: its program cannot be loaded.
        DefinitionError: a type cannot be expressed as a CRD.
    """
    program = project_program(start)
    return _made_of(_modules_of(program)) if program else []


def definitions_beside(files: Iterable[Path] = (Path("-"),)) -> list[Path]:
    """Return `config/crd/bases` in the folder of each file, or the nearest one above. ``-`` is the current folder."""
    found: dict[Path, None] = {}
    for file in files:
        start = Path.cwd() if str(file) == "-" else file.resolve()
        bases = next((each / BASES for each in (start, *start.parents) if (each / BASES).is_dir()), None)
        if bases is not None and any(each.suffix in SUFFIXES for each in bases.iterdir()):
            found[Path(os.path.relpath(bases))] = None
    return list(found)


def files_of(path: Path) -> list[Path]:
    """Return a file, or the files below a folder that may have objects. Raises CommandFailed."""
    if not path.is_dir():
        return [path]
    files = sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file())
    if not files:
        raise CommandFailed(f"{path} is a directory without *.yaml, *.yml or *.json files")
    return files


def read_file(file: Path, *, lenient: bool = False) -> list[Document]:
    """Return the objects of a file. Raises CommandFailed if it cannot be read.

    Args:
        file: a file, not a folder; ``-`` is stdin.
        lenient: skip documents that are not objects.
    """
    from pyctrl.manifests import read_manifest_objects  # here: help needs none of it

    source = "<stdin>" if str(file) == "-" else str(file)
    try:
        text = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return list(read_manifest_objects(text, source, lenient=lenient))
    except OSError as error:
        raise CommandFailed(f"{source}: {error.strerror}") from error
    except ValueError as error:
        raise CommandFailed(f"{source}: {error}") from error


def is_definition(document: Document) -> bool:
    """Return whether an object is a CRD."""
    return document.obj.get("kind") == DEFINITION.kind


def _check_definition(document: Document) -> Definition:
    """Return a CRD that the server accepts. Fields that it does not know are ignored."""
    from pyctrl.manifests import ManifestValidator

    found = ManifestValidator().define(document).problems
    problems = [each for each in found if each.reason not in _OVERLOOKED and not each.path.startswith(_OF_CHARTS)]
    if problems:
        details = "".join(f"\n  {document.source}:{each.line}:{each.column}: {each}" for each in problems)
        raise CommandFailed(f"{document.source} is not a valid CustomResourceDefinition:{details}")
    return dict(document.obj)


# -- a cluster -------------------------------------------------------------------------------------------------------


def _of_cluster(name: str, login: ClientFlags, *, quiet: bool) -> list[Definition]:
    async def read(client: Client, config: Config) -> list[Definition]:
        if not name:
            return [each.to_wire() for each in (await client.list(DEFINITION)).items]
        try:
            return [(await client.get(DEFINITION, Key("", name))).to_wire()]
        except NotFound as error:
            names = [each.metadata.name for each in (await client.list(DEFINITION)).items]
            raise CommandFailed(f"{error}{_nearest_directory(name, names)}") from error

    return login.run(read, quiet=quiet)


def _nearest_directory(name: str, names: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(names), n=3) or [each for each in names if each.startswith(name)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


# -- a program -------------------------------------------------------------------------------------------------------


def definitions_of(target: str, *, is_converted: bool = False) -> list[Definition]:
    """Return the CRDs of the classes of a program: a module, or a file of Python.

    With ``is_converted``, CRDs with a conversion have a webhook strategy without an address, which no class knows. A
    server would reject them: they are for comparison.

    Raises:
        CommandFailed: the program cannot be loaded, or has no class of a kind.
        DefinitionError: a type cannot be expressed as a CRD.
    """
    found = _made_of(_modules_of(target), is_converted=is_converted)
    if not found:
        raise CommandFailed(f"{target} defines no kind: expected class Name(CustomResource[Spec, Status], group=…, …)")
    return found


def _modules_of(target: str) -> list[ModuleType]:
    """Return the imported modules of a program: `pyctrl create api` writes a module per kind."""
    from pyctrl.program import Target, modules_of

    place = Target.parse(target).place
    module = place.load()
    if module.__name__.endswith(".__main__"):
        module = sys.modules[module.__name__.removesuffix(".__main__")]
    return list(modules_of(module))


def _made_of(modules: Iterable[ModuleType], *, is_converted: bool = False) -> list[Definition]:
    """Return CRDs of the classes in modules, with the storage version that `pyctrl manifests` chooses."""
    from pyctrl.manifests import definition  # here: see above
    from pyctrl.webhook import Conversion

    modules = list(modules)
    by_kind: dict[Any, list[type[KubernetesObject]]] = {}
    for kind in dict.fromkeys(kind for module in modules for kind in _kinds(module)):
        by_kind.setdefault(kind.gvk.group_kind, []).append(kind)
    values = [value for module in modules for value in vars(module).values()]
    hubs = {each.kind: each.hub for each in values if isinstance(each, Conversion)}
    made: list[Definition] = []
    for name, kinds in by_kind.items():
        is_said = any(kind.resource.is_stored for kind in kinds)
        made.append(definition(*kinds, stored=None if is_said else hubs.get(name, kinds[0])))
        if is_converted and name in hubs:
            made[-1]["spec"]["conversion"] = {"strategy": "Webhook"}
    return made


def _kinds(module: ModuleType) -> Iterator[type[KubernetesObject]]:
    from pyctrl.api import KubernetesObject

    for value in dict.fromkeys(each for each in vars(module).values() if inspect.isclass(each)):
        if issubclass(value, KubernetesObject) and hasattr(value, "gvk") and not value.__module__.startswith("pyctrl."):
            yield value
