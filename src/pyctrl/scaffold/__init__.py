"""Scaffolding of projects, kinds and webhooks. Generated files pass the project's own checks unedited.

The properties of a project are in its pyproject.toml. The other functions are pure: they return texts by path for a
project and a kind. `Folder` writes them, shows differences, and protects edited files.
"""

from pyctrl.scaffold._api_templates import Api, api_files, controller_files
from pyctrl.scaffold._create_webhook import WebhookScaffolder
from pyctrl.scaffold._delete import Removal, removal_of, webhook_removal_of
from pyctrl.scaffold._folder import Folder
from pyctrl.scaffold._init_templates import DOCKERIGNORE, initial_files
from pyctrl.scaffold._names import looks_built_in
from pyctrl.scaffold._project import LICENSES, Layout, License, ScaffoldProject, find_project
from pyctrl.scaffold._webhook_templates import HOOKS, Hook

__all__ = [
    "DOCKERIGNORE",
    "HOOKS",
    "LICENSES",
    "Api",
    "Folder",
    "Hook",
    "Layout",
    "License",
    "Removal",
    "ScaffoldProject",
    "WebhookScaffolder",
    "api_files",
    "controller_files",
    "find_project",
    "initial_files",
    "looks_built_in",
    "removal_of",
    "webhook_removal_of",
]
