"""Module of a program: a dotted name, a file, or the directory of a package; imported once, or again after changes."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from pyctrl._load_errors import load_error
from pyctrl.errors import CommandFailed

__all__ = ["ProgramModule", "is_package"]

#: Directories with third-party code.
THIRD_PARTY_DIRECTORIES = frozenset({"site-packages", "dist-packages"})
_THIRD_PARTY_ROOTS = (Path(__file__).resolve().parents[1], Path(os.__file__).resolve().parent)


@dataclass(frozen=True, slots=True)
class ProgramModule:
    """The module of a program.

    Attributes:
        text: the name on the command line.
        module: the name of the import.
        file: the file, if it belongs to no package; its name may be that of another module.
        root: the directory that must be in ``sys.path``.
        folder: the directory of its sources; None for a dotted name.
    """

    text: str
    module: str
    file: Path | None
    root: Path
    folder: Path | None

    @classmethod
    def parse(cls, text: str) -> ProgramModule:
        """Parse ``FILE.py``, ``DIRECTORY`` or ``MODULE``, without importing it.

        Raises:
            CommandFailed: the file does not exist, or Python cannot import the file or directory.
        """
        path = Path(text)
        if not text or (path.is_file() and path.suffix not in ("", ".py")):
            raise CommandFailed(f"expected FILE.py, DIRECTORY or MODULE; got {text!r}")
        if text.endswith(".py"):
            return _of_file(text, path)
        if path.is_dir() and not (text.isidentifier() and _is_importable(text)):
            return _of_directory(text, path.resolve())
        return cls(text, text, None, Path.cwd(), None)

    @property
    def name(self) -> str:
        """The name of the program: of the file or package, with the characters of object names."""
        parts = [part for part in self.module.split(".") if part not in ("__main__", "__init__")]
        last = parts[-1].removeprefix("pyctrl_target_") if parts else "program"
        return "".join(c if c.isalnum() else "-" for c in last.lower()).strip("-") or "program"

    @property
    def sources(self) -> Path | None:
        """The directory of its sources; of a dotted name only once it is imported."""
        return self.folder or _folder_of(sys.modules.get(self.module))

    def load(self) -> ModuleType:
        """Import the module, or return it if it is imported already.

        Raises:
            CommandFailed: the module does not exist, or its import failed.
        """
        self._prepare()
        try:
            return self._import()
        except (Exception, SystemExit) as error:
            if isinstance(error, ModuleNotFoundError) and f"{self.module}.".startswith(f"{error.name}."):
                raise CommandFailed(
                    f"no module {error.name!r}, seen from {Path.cwd()}; expected MODULE:FUNCTION or FILE.py:FUNCTION"
                ) from error
            raise load_error(f"importing {self.text}", error) from error

    def _prepare(self) -> None:
        if self.file is not None and not self.file.is_file():
            raise CommandFailed(f"no such file: {self.file}")
        for directory in (Path.cwd(), self.root):
            if str(directory) not in sys.path:
                sys.path.insert(0, str(directory))

    def _import(self) -> ModuleType:
        if self.file is None:
            if self.folder is not None:
                self._open_packages()
            return importlib.import_module(self.module)
        found = sys.modules.get(self.module)
        if found is not None and getattr(found, "__file__", None) == str(self.file):
            return found  # otherwise a file of the same name in another directory
        spec = importlib.util.spec_from_file_location(self.module, self.file)
        assert spec is not None  # it ends with .py
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[self.module] = module  # pydantic resolves annotations in the module of a class
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[self.module]
            if found is not None:
                sys.modules[self.module] = found
            raise
        return module

    def _open_packages(self) -> None:
        """Create packages for directories above the module that have no ``__init__``.

        Otherwise Python would import a file of the same name instead: podset.py in the current directory podset.
        """
        parts, directory = self.module.split(".")[:-1], self.root
        for count, part in enumerate(parts, start=1):
            directory, name = directory / part, ".".join(parts[:count])
            if not (directory / "__init__.py").is_file() and not hasattr(sys.modules.get(name), "__path__"):
                package = ModuleType(name)
                package.__path__ = [str(directory)]
                sys.modules[name] = package

    @contextmanager
    def reimported(self) -> Iterator[None]:
        """Make `load` import the program's own modules again in this block. Restores the old ones on an error.

        Bytecode files are neither read nor written, because they do not distinguish two saves within a second. The
        existing ones are deleted.
        """
        own = self.own_modules()
        before = {name: sys.modules.pop(name) for name in own}
        for file in own.values():
            with suppress(OSError):  # missing, or not writable
                Path(importlib.util.cache_from_source(str(file))).unlink()
        importlib.invalidate_caches()
        writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            yield
        except BaseException:
            for name in self.own_modules():
                del sys.modules[name]
            sys.modules.update(before)
            raise
        finally:
            sys.dont_write_bytecode = writes

    def package_files(self) -> Iterator[Path]:
        """Yield the files of a package, imported or not; none for a program that is a single file."""
        folder = self.sources
        if self.file is not None or folder is None or not _package_of(folder)[0]:
            return
        for directory, below, names in os.walk(folder):
            below[:] = [
                each
                for each in below
                if each not in THIRD_PARTY_DIRECTORIES and not each.startswith((".", "__pycache__"))
            ]
            yield from (Path(directory, name) for name in names if name.endswith(".py"))

    def own_modules(self) -> dict[str, Path]:
        """Return the program's own imported modules, by name, with their files."""
        folder = self.sources
        if folder is None:
            return {}
        below = f"{folder}{os.sep}"  # as text: compared with a thousand modules several times a second
        files = ((name, getattr(module, "__file__", None) or "") for name, module in list(sys.modules.items()))
        found = {name: Path(file) for name, file in files if name != "__main__" and file.startswith(below)}
        return {name: file for name, file in found.items() if file.suffix == ".py" and _is_in(file, folder)}


def _of_file(text: str, path: Path) -> ProgramModule:
    if not path.is_file():
        raise CommandFailed(f"no such file: {path}")
    file = path.resolve()
    package, root = _package_of(file.parent)
    if package:
        name = package if file.name == "__init__.py" else f"{package}.{file.stem}"
        return ProgramModule(text, name, None, root, file.parent)
    # A file may have the name of a standard module, such as operator.py.
    return ProgramModule(text, f"pyctrl_target_{file.stem}", file, file.parent, file.parent)


def _of_directory(text: str, path: Path) -> ProgramModule:
    """Return the module of a directory: its ``__main__`` if there is one, else the package."""
    package, root = _package_of(path)
    if not package:
        if not path.is_relative_to(Path.cwd()) or not list(path.glob("*.py")):
            raise CommandFailed(
                f"{text} is no package: it has no __init__.py and no __main__.py; "
                "and no project: it has no pyproject.toml with program in [tool.pyctrl]"
            )
        root, package = Path.cwd(), ".".join(path.relative_to(Path.cwd()).parts)
    return ProgramModule(text, f"{package}.__main__" if (path / "__main__.py").is_file() else package, None, root, path)


def is_package(directory: Path) -> bool:
    """Return whether a directory has ``__init__.py`` or ``__main__.py``."""
    return any((directory / name).is_file() for name in ("__init__.py", "__main__.py"))


def _package_of(directory: Path) -> tuple[str, Path]:
    """Return the dotted name of a package's directory, and its root for ``sys.path``; "" if it is none."""
    parts: list[str] = []
    while (directory / "__init__.py").is_file() or (not parts and is_package(directory)):
        parts.insert(0, directory.name)
        directory = directory.parent
    return ".".join(parts), directory


def _is_importable(name: str) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None


def _folder_of(module: ModuleType | None) -> Path | None:
    paths, file = getattr(module, "__path__", ()), getattr(module, "__file__", None)
    return Path(next(iter(paths))) if paths else Path(file).parent if file else None


def _is_in(file: Path, folder: Path) -> bool:
    """Return whether a file below a program's folder is its own: not installed there, not of pyctrl or Python."""
    if THIRD_PARTY_DIRECTORIES.intersection(file.relative_to(folder).parts):
        return False
    return not any(file.is_relative_to(root) and not folder.is_relative_to(root) for root in _THIRD_PARTY_ROOTS)
