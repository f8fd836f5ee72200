"""The samples of a project: the objects in `config/samples` and `config/sample.yaml`, which its author keeps."""

from __future__ import annotations

from pathlib import Path

from pyctrl.program._loading import KUSTOMIZATION, SUFFIXES, Manifest, read_manifests

__all__ = ["find_samples", "read_samples", "sample_paths"]

CONFIG, DIRECTORY, FILE = "config", "samples", "sample.yaml"
PROJECT = "pyproject.toml"


def sample_paths(config: Path) -> list[Path]:
    """Return ``samples`` of a directory of manifests, if there are files in it, and ``sample.yaml``, if it is there."""
    directory, file = config / DIRECTORY, config / FILE
    return [*([directory] if _files(directory) else []), *([file] if file.is_file() else [])]


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
    files = [file for path in sample_paths(config) for file in (_files(path) if path.is_dir() else [path])]
    return [manifest for file in files for manifest in read_manifests(file)]


def _files(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    found = (each for each in directory.iterdir() if each.suffix in SUFFIXES and each.stem != KUSTOMIZATION)
    return sorted(each for each in found if each.is_file())
