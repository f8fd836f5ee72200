"""The version of the running program: everything that a reconcile depends on, as digests by name."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from pyctrl._distribution import version

__all__ = ["program_version"]

MAX_FILES = 20_000  # of the program: more is a home directory, not a program
_PYCTRL = f"{Path(__file__).parents[2]}{os.sep}"
#: Variables that differ between two pods of the same Deployment, or come from Services.
_OF_POD = re.compile(
    r"HOSTNAME|POD_NAME|POD_IP|POD_UID|NODE_NAME|HOST_IP|PWD|OLDPWD|SHLVL|_|TERM|COLUMNS|LINES|INVOCATION_ID"
    r"|\w+_SERVICE_HOST|\w+_SERVICE_PORT(_\w+)?|\w+_PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?"
)


def program_version(modules: Iterable[str], *, code: str = "") -> dict[str, str]:
    """Return the version of the running program, by parts: two programs with equal parts do the same.

    - "files": the program's own files. These are all files of the packages of ``modules``, and of each loaded module
      that is neither of Python nor installed; for a module without a package, the Python files beside it.
    - "packages": the installed distributions, pyctrl included, with their versions.
    - "python", "arguments" and "environment", without the variables that differ between pods of a Deployment.
    - "code": what the user adds.

    Args:
        modules: the modules of the reconcilers.
        code: what the user adds.
    """
    files = _program_files(dict.fromkeys(modules))
    return {
        "files": _digest(_file_parts(files)),
        "packages": _digest(_packages()),
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "arguments": _digest(sys.argv),
        "environment": _digest(_environment(os.environ)),
        "code": code,
    }


def _program_files(modules: Iterable[str]) -> list[str]:
    """Return the paths of the program's files, sorted. They are texts, because a program may have thousands."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    others = tuple({f"{place}{os.sep}" for name in names if (place := sysconfig.get_path(name))} | {_PYCTRL})
    own = {name.partition(".")[0] for name in modules}
    loaded = {name.partition(".")[0] for name in list(sys.modules)}
    roots = {root for name in own | loaded if (root := _root_of(name, () if name in own else others))}
    return sorted({path for root in roots for path in _files_of(root, is_alone=str(root).startswith(others))})


def _root_of(name: str, others: tuple[str, ...]) -> Path | None:
    """Return the directory of a top-level package, or the file of a module; None if it is in another place."""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if file is None:  # built in, or a namespace package
        places = [place for place in getattr(module, "__path__", ()) if not f"{place}{os.sep}".startswith(others)]
        return Path(places[0]).resolve() if places else None
    if not file.endswith(".py") or file.startswith(others):
        return None
    path = Path(file).resolve()
    return path.parent if path.name == "__init__.py" else path


def _files_of(root: Path, *, is_alone: bool) -> Iterator[str]:
    """Yield the files of a package; of a module that is not installed, also the modules beside it."""
    if root.is_file():
        yield from map(str, (root,) if is_alone else root.parent.glob("*.py"))
    else:
        yield from islice(_walk(root), MAX_FILES)


def _walk(root: Path) -> Iterator[str]:
    for directory, below, names in os.walk(root):
        below[:] = [name for name in below if name != "__pycache__" and not name.startswith(".")]
        yield from (f"{directory}{os.sep}{name}" for name in names if not name.endswith(".pyc"))


def _file_parts(files: Iterable[str]) -> Iterator[str]:
    for path in files:
        try:
            status = os.stat(path)  # noqa: PTH116 (a Path for each costs more than the call)
            yield f"{path.rpartition(os.sep)[2]} {_content(path, status.st_mtime_ns, status.st_size)}"
        except OSError as error:
            yield f"{path}: {error}"


@lru_cache(maxsize=MAX_FILES)
def _content(path: str, _modified: int, _size: int) -> str:
    """Return the digest of a file; several managers of a process read it once, unless it changes."""
    return blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()


def _packages() -> list[str]:
    """Return the names of the installed distributions with their versions, without reading any of them."""
    found = {f"pyctrl {version()}"}
    for place in sys.path:
        try:
            found.update(path.name for path in Path(place).iterdir() if path.suffix in (".dist-info", ".egg-info"))
        except OSError:
            continue  # a zip file, or a directory that does not exist
    return sorted(found)


def _environment(variables: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in sorted(variables.items()) if not _OF_POD.fullmatch(name)]


def _digest(parts: Iterable[str]) -> str:
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return found.hexdigest()
