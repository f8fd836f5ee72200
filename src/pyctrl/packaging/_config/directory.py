"""The ``config/`` directory on disk: generated files, and merged kustomizations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyctrl.packaging._config.tree import DIRECTORIES, KUSTOMIZATION
from pyctrl.packaging._difference import Difference, indexed, not_generated, read_text, stale
from pyctrl.packaging._objects.parts import PARTS, Part

__all__ = ["INDEX", "ConfigDirectory", "entries", "merge_kustomization"]


#: The index file: the paths of generated files, one per line. Other files are not touched.
INDEX = ".pyctrl-manifests"


@dataclass(frozen=True, slots=True)
class ConfigDirectory:
    """A directory of manifests, some of which are generated.

    The generated files are listed in its index. They are updated, and removed when they are no longer generated. Other
    files are left alone, as are existing samples, which users edit, and foreign entries of a kustomization.
    """

    path: Path

    def differences(
        self, wanted: Mapping[str, str], *, parts: Collection[Part] = PARTS, force: bool = False
    ) -> list[Difference]:
        """Return the files that differ from the generated ones, sorted by path.

        Args:
            wanted: the generated files, as returned by `tree`.
            parts: the parts that `wanted` has the files of; files of other parts are left alone.
            force: replace files that were not generated.

        Raises:
            CommandFailed: a file exists that was not generated.
        """
        owned = indexed(self.path / INDEX)
        ours = {directory for part in parts for directory in DIRECTORIES[part]}
        elsewhere = {path for path in owned if path.partition("/")[0] not in ours}
        gone = owned - elsewhere - set(wanted)
        texts: dict[str, str | None] = {path: self._remaining(path, gone) for path in gone}
        for path, text in wanted.items():
            texts[path] = self._text(path, text, gone, may_replace=force or path in owned)
        texts[INDEX] = "".join(f"{path}\n" for path in sorted(elsewhere | set(wanted)))
        return stale(Difference(self.path / path, self._read(path), text) for path, text in sorted(texts.items()))

    def _text(self, path: str, text: str, gone: Collection[str], *, may_replace: bool) -> str:
        """Return the new text of a generated file."""
        current = self._read(path)
        if current is None or current == text:
            return text
        if path.endswith(f"/{KUSTOMIZATION}"):
            return merge_kustomization(current, text, gone=_entries(path, gone) | self._deleted(path, current, text))
        if path.startswith("samples/"):
            return current
        if not may_replace:
            raise not_generated(self.path / path)
        return text

    def _deleted(self, path: str, current: str, wanted: str) -> set[str]:
        """Return the samples in a kustomization whose files its author deleted; kustomize would fail with them."""
        if not path.startswith("samples/"):
            return set()
        files = {each for each in entries(current) if "/" not in each}.difference(entries(wanted))
        return {each for each in files if not (self.path / "samples" / each).exists()}

    def _remaining(self, path: str, gone: Collection[str]) -> str | None:
        """Return what remains of a file that is no longer generated: foreign entries of a kustomization, or None."""
        current = self._read(path)
        if current is None or not path.endswith(f"/{KUSTOMIZATION}"):
            return None
        rest = merge_kustomization(current, "", gone=_entries(path, gone))
        return rest if any(line.lstrip().startswith("- ") for line in rest.splitlines()) else None

    def _read(self, path: str) -> str | None:
        return read_text(self.path / path)


def _entries(path: str, gone: Collection[str]) -> set[str]:
    """Return the entries by which a kustomization lists removed files and directories."""
    directory = path.partition("/")[0]
    return {each for file in gone for each in _names(file, directory)}


def _names(file: str, directory: str) -> Iterator[str]:
    top, _, rest = file.partition("/")
    if top == directory:
        yield rest
    elif rest == KUSTOMIZATION:
        yield f"../{top}"


RESOURCES = "resources:"


def merge_kustomization(current: str, wanted: str, *, gone: Collection[str]) -> str:
    """Return a kustomization with the resources of a generated one added, and with removed files left out.

    Args:
        current: the file on disk, which users may have edited.
        wanted: the generated file.
        gone: entries of removed files.
    """
    has = set(entries(current))
    new = [each for each in entries(wanted) if each not in has]
    leaving = {each for each in gone if each in has}
    if not new and not leaving:
        return current
    lines = [line for line in current.splitlines() if _entry(line) not in leaving or not _entry(line)]
    return "\n".join(_inserted(lines, new)) + "\n"


def _inserted(lines: list[str], new: list[str]) -> list[str]:
    """Insert entries after the last resource."""
    if not new:
        return lines
    if RESOURCES not in lines:
        return [*lines, RESOURCES, *(f"- {each}" for each in new)]
    end = start = lines.index(RESOURCES) + 1
    while end < len(lines) and (_entry(lines[end]) or lines[end].lstrip().startswith("#")):
        end += 1
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())] if end > start else ""
    return [*lines[:end], *(f"{indent}- {each}" for each in new), *lines[end:]]


def entries(text: str) -> list[str]:
    """Return the resources of a kustomization."""
    found, is_inside = [], False
    for line in text.splitlines():
        if entry := _entry(line):
            found += [entry] * is_inside
        elif line.strip() and not line.lstrip().startswith("#"):
            is_inside = line.rstrip() == RESOURCES
    return found


def _entry(line: str) -> str:
    """Return the item of a list line; "" for any other line."""
    stripped = line.strip()
    return stripped[2:].partition(" #")[0].strip().strip("'\"") if stripped.startswith("- ") else ""
