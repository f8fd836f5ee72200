"""A whole program as `pyctrl run` and `pyctrl dev` run it: its manager, its definitions, its webhooks as flags say.

What a program is, and how it is found by its name, is `pyctrl.manager.Target`: a function that wires controllers into
a manager, or the controllers themselves. Nothing here knows a command line.

Nothing is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._door import opened_by_name

if TYPE_CHECKING:
    from pyctrl.program._definitions import DeclaredKinds, custom_kinds, declared_kinds, definitions, definitions_of
    from pyctrl.program._installing import Installation, install_definition, install_definitions, plan_installation
    from pyctrl.program._loading import Manifest, apply_files, files_of, load, read_manifests
    from pyctrl.program._manager import ProgramManager, Serving, certificate_secret
    from pyctrl.program._samples import find_samples, read_samples, sample_paths
    from pyctrl.program._wiring import wire_up

__all__ = [
    "DeclaredKinds",
    "Installation",
    "Manifest",
    "ProgramManager",
    "Serving",
    "apply_files",
    "certificate_secret",
    "custom_kinds",
    "declared_kinds",
    "definitions",
    "definitions_of",
    "files_of",
    "find_samples",
    "install_definition",
    "install_definitions",
    "load",
    "plan_installation",
    "read_manifests",
    "read_samples",
    "sample_paths",
    "wire_up",
]

_FILES = {
    **dict.fromkeys(
        ("DeclaredKinds", "custom_kinds", "declared_kinds", "definitions", "definitions_of"), "_definitions"
    ),
    **dict.fromkeys(("Installation", "install_definition", "install_definitions", "plan_installation"), "_installing"),
    **dict.fromkeys(("Manifest", "apply_files", "files_of", "load", "read_manifests"), "_loading"),
    **dict.fromkeys(("ProgramManager", "Serving", "certificate_secret"), "_manager"),
    **dict.fromkeys(("find_samples", "read_samples", "sample_paths"), "_samples"),
    "wire_up": "_wiring",
}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = opened_by_name(__name__, _FILES)
