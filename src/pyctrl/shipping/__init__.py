"""A program as it is shipped: the objects it needs in a cluster, the files they are kept in, and how they get there.

`read_project` wires a program and finds out everything that it needs; the `Project` that it gives is data. `parts`
makes objects of it, `tree` the files of a ``config/`` directory as kubebuilder lays it out, `install` the objects in an
order in which each finds what it needs. None of them touches a disk; a `ConfigDirectory` compares files with one, and
writes them. `read_chart` gives the same objects as a Helm chart, in which settings are values, and a `ChartDirectory`
is one on a disk.

Nothing is imported before it is used.
"""

from typing import TYPE_CHECKING

from pyctrl._door import opened_by_name

if TYPE_CHECKING:
    from ._chart import Chart, read_chart
    from ._chart_directory import ChartDirectory
    from ._comparing import ObjectChange, changes
    from ._deploying import Deployer, Step
    from ._directory import ConfigDirectory, Difference
    from ._image import Image, find_tool, image_of
    from ._parts import PARTS, Part, install, parts
    from ._project import Project
    from ._reading import read_project
    from ._samples import problems_of
    from ._settings import Settings, read_settings
    from ._tree import tree

__all__ = [
    "PARTS",
    "Chart",
    "ChartDirectory",
    "ConfigDirectory",
    "Deployer",
    "Difference",
    "Image",
    "ObjectChange",
    "Part",
    "Project",
    "Settings",
    "Step",
    "changes",
    "find_tool",
    "image_of",
    "install",
    "parts",
    "problems_of",
    "read_chart",
    "read_project",
    "read_settings",
    "tree",
]

_FILES = {
    **dict.fromkeys(("Chart", "read_chart"), "_chart"),
    **dict.fromkeys(("Deployer", "Step"), "_deploying"),
    **dict.fromkeys(("ObjectChange", "changes"), "_comparing"),
    **dict.fromkeys(("ConfigDirectory", "Difference"), "_directory"),
    **dict.fromkeys(("Image", "find_tool", "image_of"), "_image"),
    **dict.fromkeys(("PARTS", "Part", "install", "parts"), "_parts"),
    **dict.fromkeys(("Settings", "read_settings"), "_settings"),
    "ChartDirectory": "_chart_directory",
    "Project": "_project",
    "problems_of": "_samples",
    "read_project": "_reading",
    "tree": "_tree",
}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = opened_by_name(__name__, _FILES)
