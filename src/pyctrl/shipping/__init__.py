"""A program as it is shipped: the objects it needs in a cluster, the files they are kept in, and how they get there.

`read_project` wires a program and finds out everything that it needs; the `Project` that it gives is data. `parts`
makes objects of it, `tree` the files of a ``config/`` directory as kubebuilder lays it out, `install` the objects in an
order in which each finds what it needs. None of them touches a disk; a `ConfigDirectory` compares files with one, and
writes them. `read_chart` gives the same objects as a Helm chart, in which settings are values, and a `ChartDirectory`
is one on a disk.

`bundle` makes the files of a bundle for the Operator Lifecycle Manager of a program that `read_bundled` has read, and
`examine` says what is wrong with one.

Nothing is imported before it is used.
"""

from typing import TYPE_CHECKING

from pyctrl._door import opened_by_name

if TYPE_CHECKING:
    from pyctrl.shipping._bundle._contents import SUITES, Objection, Suite, read_files
    from pyctrl.shipping._bundle._directory import BundleDirectory
    from pyctrl.shipping._bundle._examining import examine
    from pyctrl.shipping._bundle._files import bundle
    from pyctrl.shipping._bundle._publication import Link, Person, Publication, read_publication
    from pyctrl.shipping._bundle._release import Release, read_bundled, release
    from pyctrl.shipping._chart import Chart, read_chart
    from pyctrl.shipping._chart_directory import ChartDirectory
    from pyctrl.shipping._comparing import ObjectChange, changes
    from pyctrl.shipping._deploying import Deployer, Step
    from pyctrl.shipping._difference import Difference
    from pyctrl.shipping._directory import INDEX, ConfigDirectory
    from pyctrl.shipping._image import Image, find_tool, image_of
    from pyctrl.shipping._parts import PARTS, Part, install, parts
    from pyctrl.shipping._project import Project
    from pyctrl.shipping._reading import read_project
    from pyctrl.shipping._samples import problems_of
    from pyctrl.shipping._settings import Settings, read_settings
    from pyctrl.shipping._tree import tree

__all__ = [
    "INDEX",
    "PARTS",
    "SUITES",
    "BundleDirectory",
    "Chart",
    "ChartDirectory",
    "ConfigDirectory",
    "Deployer",
    "Difference",
    "Image",
    "Link",
    "ObjectChange",
    "Objection",
    "Part",
    "Person",
    "Project",
    "Publication",
    "Release",
    "Settings",
    "Step",
    "Suite",
    "bundle",
    "changes",
    "examine",
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
    "tree",
]

_FILES = {
    **dict.fromkeys(("SUITES", "Objection", "Suite", "read_files"), "_bundle._contents"),
    **dict.fromkeys(("Link", "Person", "Publication", "read_publication"), "_bundle._publication"),
    **dict.fromkeys(("Release", "read_bundled", "release"), "_bundle._release"),
    **dict.fromkeys(("Chart", "read_chart"), "_chart"),
    **dict.fromkeys(("Deployer", "Step"), "_deploying"),
    **dict.fromkeys(("ObjectChange", "changes"), "_comparing"),
    **dict.fromkeys(("INDEX", "ConfigDirectory"), "_directory"),
    "Difference": "_difference",
    **dict.fromkeys(("Image", "find_tool", "image_of"), "_image"),
    **dict.fromkeys(("PARTS", "Part", "install", "parts"), "_parts"),
    **dict.fromkeys(("Settings", "read_settings"), "_settings"),
    "BundleDirectory": "_bundle._directory",
    "ChartDirectory": "_chart_directory",
    "Project": "_project",
    "bundle": "_bundle._files",
    "examine": "_bundle._examining",
    "problems_of": "_samples",
    "read_project": "_reading",
    "tree": "_tree",
}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = opened_by_name(__name__, _FILES)
