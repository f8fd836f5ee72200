"""Programs as `pyctrl run` and `pyctrl dev` run them: import, setup, manager, CRDs and samples.

A program is a setup function, which adds controllers to a manager, or a module with Reconciler classes. `Target` finds
it by name, and `ProgramRunner` runs it. Names are imported at their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names

if TYPE_CHECKING:
    from pyctrl.program._config import load_config
    from pyctrl.program._crd_installation import (
        Installation,
        install_definition,
        install_definitions,
        plan_installation,
    )
    from pyctrl.program._definitions import DeclaredKinds, custom_kinds, declared_kinds, definitions, definitions_of
    from pyctrl.program._manifest_files import (
        Manifest,
        apply_files,
        apply_files_in_process,
        find_samples,
        manifest_files,
        read_manifests,
        read_samples,
        sample_paths,
    )
    from pyctrl.program._module import ProgramModule
    from pyctrl.program._program_manager import APIServerOptions, ProgramManager, WebhookOptions, certificate_secret
    from pyctrl.program._pyproject import program_path, read_pyproject
    from pyctrl.program._run_options import LoginOptions, RunOptions
    from pyctrl.program._runner import ProgramRunner
    from pyctrl.program._setup import SetupFunction, modules_of, setup_package
    from pyctrl.program._target import Target, offline_manager, run_setup

__all__ = [
    "APIServerOptions",
    "DeclaredKinds",
    "Installation",
    "LoginOptions",
    "Manifest",
    "ProgramManager",
    "ProgramModule",
    "ProgramRunner",
    "RunOptions",
    "SetupFunction",
    "Target",
    "WebhookOptions",
    "apply_files",
    "apply_files_in_process",
    "certificate_secret",
    "custom_kinds",
    "declared_kinds",
    "definitions",
    "definitions_of",
    "find_samples",
    "install_definition",
    "install_definitions",
    "load_config",
    "manifest_files",
    "modules_of",
    "offline_manager",
    "plan_installation",
    "program_path",
    "read_manifests",
    "read_pyproject",
    "read_samples",
    "run_setup",
    "sample_paths",
    "setup_package",
]

_NAMES = {
    "_config": ("load_config",),
    "_crd_installation": ("Installation", "install_definition", "install_definitions", "plan_installation"),
    "_definitions": ("DeclaredKinds", "custom_kinds", "declared_kinds", "definitions", "definitions_of"),
    "_manifest_files": (
        *("Manifest", "apply_files", "apply_files_in_process", "find_samples", "manifest_files", "read_manifests"),
        *("read_samples", "sample_paths"),
    ),
    "_module": ("ProgramModule",),
    "_program_manager": ("APIServerOptions", "ProgramManager", "WebhookOptions", "certificate_secret"),
    "_pyproject": ("program_path", "read_pyproject"),
    "_run_options": ("LoginOptions", "RunOptions"),
    "_runner": ("ProgramRunner",),
    "_setup": ("SetupFunction", "modules_of", "setup_package"),
    "_target": ("Target", "offline_manager", "run_setup"),
}
_FILES = {name: file for file, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # for type checkers, __getattr__ would define every name
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
