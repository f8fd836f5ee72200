"""Simulation of an operator: every fault is tried against it, in virtual time, and a failure is told as a story."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names

if TYPE_CHECKING:
    from pyctrl.simulation._exploration import ExploreOptions, ExploreProgress, Explorer
    from pyctrl.simulation._explorer import explore_program
    from pyctrl.simulation._external import External, ExternalError
    from pyctrl.simulation._invariants import Invariant, always, eventually
    from pyctrl.simulation._network import Network
    from pyctrl.simulation._plugin import Explore, SimulationFailed
    from pyctrl.simulation._process import Process
    from pyctrl.simulation._report import Attempt, Plan, Report, RunOutcome, Story
    from pyctrl.simulation._reporting import report_page, report_text, report_to_wire
    from pyctrl.simulation._saved_failures import SavedFailures
    from pyctrl.simulation._scenarios import Delete
    from pyctrl.simulation._schedule import Schedule
    from pyctrl.simulation._world import World

__all__ = [
    "Attempt",
    "Delete",
    "Explore",
    "ExploreOptions",
    "ExploreProgress",
    "Explorer",
    "External",
    "ExternalError",
    "Invariant",
    "Network",
    "Plan",
    "Process",
    "Report",
    "RunOutcome",
    "SavedFailures",
    "Schedule",
    "SimulationFailed",
    "Story",
    "World",
    "always",
    "eventually",
    "explore_program",
    "report_page",
    "report_text",
    "report_to_wire",
]

_NAMES = {
    "_exploration": ("ExploreOptions", "ExploreProgress", "Explorer"),
    "_explorer": ("explore_program",),
    "_external": ("External", "ExternalError"),
    "_invariants": ("Invariant", "always", "eventually"),
    "_network": ("Network",),
    "_plugin": ("Explore", "SimulationFailed"),
    "_process": ("Process",),
    "_saved_failures": ("SavedFailures",),
    "_scenarios": ("Delete",),
    "_world": ("World",),
    "_report": ("Attempt", "RunOutcome", "Plan", "Report", "Story"),
    "_reporting": ("report_page", "report_text", "report_to_wire"),
    "_schedule": ("Schedule",),
}
_FILES = {name: file for file, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # for type checkers, __getattr__ would define every name
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
