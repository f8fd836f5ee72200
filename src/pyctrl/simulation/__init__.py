"""Simulation of an operator: every fault is tried against it, in virtual time, and a failure is told as a story."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names

if TYPE_CHECKING:
    from pyctrl.simulation._exploration import Explorer, ExploreOptions, ExploreProgress
    from pyctrl.simulation._report import Attempt, Outcome, Plan, Report, Story
    from pyctrl.simulation._reporting import report_page, report_text, report_to_wire
    from pyctrl.simulation._schedule import Schedule

__all__ = [
    "Attempt",
    "ExploreOptions",
    "ExploreProgress",
    "Explorer",
    "Outcome",
    "Plan",
    "Report",
    "Schedule",
    "Story",
    "report_page",
    "report_text",
    "report_to_wire",
]

_NAMES = {
    "_exploration": ("ExploreOptions", "ExploreProgress", "Explorer"),
    "_report": ("Attempt", "Outcome", "Plan", "Report", "Story"),
    "_reporting": ("report_page", "report_text", "report_to_wire"),
    "_schedule": ("Schedule",),
}
_FILES = {name: file for file, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # for type checkers, __getattr__ would define every name
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
