"""An operator while it is being written: a cluster for it, its definitions and rights, reloads on save, a live view.

`DevSession` is what `pyctrl dev` runs, without a terminal: the cluster of `pyctrl.cluster` in this process, and a
program in it that is imported anew when its files change, while the server keeps its objects and the caches stay
filled. `view_of` makes rows of numbers; whoever draws them draws them.
"""

from pyctrl.dev._journal import Journal
from pyctrl.dev._log_filter import ProgramLogFilter
from pyctrl.dev._requirements import Requirements
from pyctrl.dev._session import DevOptions, DevSession
from pyctrl.dev._view import ControllerRow, ErrorRow, ObjectRow, Snapshot, Table, View, take_snapshot, view_of

__all__ = [
    "ControllerRow",
    "DevOptions",
    "DevSession",
    "ErrorRow",
    "Journal",
    "ObjectRow",
    "ProgramLogFilter",
    "Requirements",
    "Snapshot",
    "Table",
    "View",
    "take_snapshot",
    "view_of",
]
