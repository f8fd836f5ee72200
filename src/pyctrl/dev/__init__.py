"""Development sessions: an in-process cluster with a program's CRDs and roles, reloads on save, and a live view.

`DevSession` is `pyctrl dev` without a terminal. It runs the cluster of `pyctrl.cluster` in this process, and a program
that is imported again when its files change. The server keeps its objects, and the caches stay filled. `view_of`
returns the rows of the live view and `take_details` those of one object; `pyctrl dev` draws them.
"""

from pyctrl.dev._details import EventRow, ObjectDetails, OwnedObject, take_details
from pyctrl.dev._error_report import ErrorReport, Frame, SourceLine
from pyctrl.dev._journal import Detection, Journal, LastRun, RunResult
from pyctrl.dev._log_filter import ProgramLogFilter
from pyctrl.dev._pod_details import ContainerDetails, PodDetails, SessionRow
from pyctrl.dev._reads import ReadRow
from pyctrl.dev._requirements import WEBHOOK_HOST, Requirements, find_requirements
from pyctrl.dev._session import DevOptions, DevSession
from pyctrl.dev._snapshot import ControllerSnapshot, Snapshot, take_snapshot
from pyctrl.dev._state import Problem, SessionState
from pyctrl.dev._view import ControllerRow, ErrorRow, ObjectRow, Table, View, view_of

__all__ = [
    "WEBHOOK_HOST",
    "ContainerDetails",
    "ControllerRow",
    "ControllerSnapshot",
    "Detection",
    "DevOptions",
    "DevSession",
    "ErrorReport",
    "ErrorRow",
    "EventRow",
    "Frame",
    "Journal",
    "LastRun",
    "ObjectDetails",
    "ObjectRow",
    "OwnedObject",
    "PodDetails",
    "Problem",
    "ProgramLogFilter",
    "ReadRow",
    "Requirements",
    "RunResult",
    "SessionRow",
    "SessionState",
    "Snapshot",
    "SourceLine",
    "Table",
    "View",
    "find_requirements",
    "take_details",
    "take_snapshot",
    "view_of",
]
