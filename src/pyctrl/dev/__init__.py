"""Development sessions: an in-process cluster with a program's CRDs and roles, reloads on save, and a live view.

`DevSession` is `pyctrl dev` without a terminal. It runs the cluster of `pyctrl.cluster` in this process, and a program
that is imported again when its files change. The server keeps its objects, and the caches stay filled. `view_of`
returns the rows of the live view; `pyctrl dev` draws them.
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
