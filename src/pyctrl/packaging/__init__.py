"""Packaging of a program: manifests, Helm chart, OLM bundle, container image, and deployment to a cluster.

`read_project` wires a program and returns everything that it needs in a cluster as a `Project`, which is plain data.
`parts` returns its objects, `tree` the files of a ``config/`` directory in kubebuilder's layout, and `install` the
objects in the order in which they are applied. These functions do not write files; a `ConfigDirectory` compares the
files with a directory and writes them. `read_chart` returns the same objects as a Helm chart, with settings as values,
and a `ChartDirectory` writes it.

`bundle` returns the files of an Operator Lifecycle Manager bundle for a program read by `read_bundled`, and
`check_bundle` validates a bundle.

`schema_files` returns JSON Schemas of kinds, which a `SchemaDirectory` writes for editors.

Submodules are imported on first use.
"""

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names

if TYPE_CHECKING:
    from pyctrl.packaging._bundle.contents import SUITES, BundleProblem, Suite, read_files
    from pyctrl.packaging._bundle.directory import BundleDirectory
    from pyctrl.packaging._bundle.files import bundle
    from pyctrl.packaging._bundle.publication import Link, Person, Publication, read_publication
    from pyctrl.packaging._bundle.release import Release, read_bundled, release
    from pyctrl.packaging._bundle.validate import check_bundle
    from pyctrl.packaging._chart.chart import Chart, read_chart
    from pyctrl.packaging._chart.directory import ChartDirectory
    from pyctrl.packaging._config.directory import INDEX, ConfigDirectory
    from pyctrl.packaging._config.tree import tree
    from pyctrl.packaging._deploy.deployer import Deployer, Step
    from pyctrl.packaging._deploy.diff import ObjectDiff, changes
    from pyctrl.packaging._difference import Difference
    from pyctrl.packaging._image.image import Image, find_tool, image_of
    from pyctrl.packaging._objects.parts import PARTS, Part, install, parts
    from pyctrl.packaging._objects.samples import problems_of
    from pyctrl.packaging._project import Project
    from pyctrl.packaging._project_reader import read_project
    from pyctrl.packaging._schema_files import SCHEMA_INDEX, SchemaDirectory, schema_files
    from pyctrl.packaging._settings import Settings, read_settings

__all__ = [
    "INDEX",
    "PARTS",
    "SCHEMA_INDEX",
    "SUITES",
    "BundleDirectory",
    "BundleProblem",
    "Chart",
    "ChartDirectory",
    "ConfigDirectory",
    "Deployer",
    "Difference",
    "Image",
    "Link",
    "ObjectDiff",
    "Part",
    "Person",
    "Project",
    "Publication",
    "Release",
    "SchemaDirectory",
    "Settings",
    "Step",
    "Suite",
    "bundle",
    "changes",
    "check_bundle",
    "find_tool",
    "image_of",
    "install",
    "parts",
    "problems_of",
    "read_bundled",
    "read_chart",
    "read_files",
    "read_project",
    "read_publication",
    "read_settings",
    "release",
    "schema_files",
    "tree",
]

_FILES = {
    **dict.fromkeys(("SUITES", "BundleProblem", "Suite", "read_files"), "_bundle.contents"),
    **dict.fromkeys(("Link", "Person", "Publication", "read_publication"), "_bundle.publication"),
    **dict.fromkeys(("Release", "read_bundled", "release"), "_bundle.release"),
    **dict.fromkeys(("Chart", "read_chart"), "_chart.chart"),
    **dict.fromkeys(("Deployer", "Step"), "_deploy.deployer"),
    **dict.fromkeys(("ObjectDiff", "changes"), "_deploy.diff"),
    **dict.fromkeys(("INDEX", "ConfigDirectory"), "_config.directory"),
    "Difference": "_difference",
    **dict.fromkeys(("Image", "find_tool", "image_of"), "_image.image"),
    **dict.fromkeys(("PARTS", "Part", "install", "parts"), "_objects.parts"),
    **dict.fromkeys(("Settings", "read_settings"), "_settings"),
    **dict.fromkeys(("SCHEMA_INDEX", "SchemaDirectory", "schema_files"), "_schema_files"),
    "BundleDirectory": "_bundle.directory",
    "ChartDirectory": "_chart.directory",
    "Project": "_project",
    "bundle": "_bundle.files",
    "check_bundle": "_bundle.validate",
    "problems_of": "_objects.samples",
    "read_project": "_project_reader",
    "tree": "_config.tree",
}

if not TYPE_CHECKING:  # type checkers would accept any attribute of a module with __getattr__
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
