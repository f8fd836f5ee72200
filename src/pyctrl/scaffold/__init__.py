"""A new project and what is added to it: files that pass their own checks before anybody has edited them.

What a project is stands in its pyproject.toml. Everything else is pure: names and a kind give texts by path, and
`Folder` writes them, says what differs, or leaves alone what somebody has edited.
"""

from pyctrl.scaffold._api import Api, api_files, controller_files
from pyctrl.scaffold._folder import Folder
from pyctrl.scaffold._hooking import Hooking
from pyctrl.scaffold._initial import DOCKERIGNORE, initial_files
from pyctrl.scaffold._names import looks_built_in
from pyctrl.scaffold._project import LICENSES, Layout, License, ScaffoldProject, find_project
from pyctrl.scaffold._removal import Removal, removal_of, webhook_removal_of
from pyctrl.scaffold._webhook import HOOKS, Hook

__all__ = [
    "DOCKERIGNORE",
    "HOOKS",
    "LICENSES",
    "Api",
    "Folder",
    "Hook",
    "Hooking",
    "Layout",
    "License",
    "Removal",
    "ScaffoldProject",
    "api_files",
    "controller_files",
    "find_project",
    "initial_files",
    "looks_built_in",
    "removal_of",
    "webhook_removal_of",
]
