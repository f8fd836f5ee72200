"""A whole program as `pyctrl run` and `pyctrl dev` run it: its manager, its definitions, its webhooks as flags say.

What a program is, and how it is found by its name, is `pyctrl.manager.Target`: a function that wires controllers into
a manager, or the controllers themselves. Nothing here knows a command line.

Nothing is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._definitions import custom_kinds, definitions_of, install_definitions
    from ._loading import Manifest, apply_files, files_of, load, read_manifests
    from ._manager import CERTIFICATE_SECRET, ProgramManager, Serving
    from ._wiring import wire_up

__all__ = [
    "CERTIFICATE_SECRET",
    "Manifest",
    "ProgramManager",
    "Serving",
    "apply_files",
    "custom_kinds",
    "definitions_of",
    "files_of",
    "install_definitions",
    "load",
    "read_manifests",
    "wire_up",
]

_FILES = {
    "_definitions": ("custom_kinds", "definitions_of", "install_definitions"),
    "_loading": ("Manifest", "apply_files", "files_of", "load", "read_manifests"),
    "_manager": ("CERTIFICATE_SECRET", "ProgramManager", "Serving"),
    "_wiring": ("wire_up",),
}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name

    def __getattr__(name: str) -> Any:
        for file, names in _FILES.items():
            if name in names:
                return getattr(importlib.import_module(f"{__name__}.{file}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
