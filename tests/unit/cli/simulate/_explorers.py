"""Explorers that find what a test wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyctrl.simulation import ExploreOptions, ExploreProgress, Report, SavedFailures
from tests.unit.simulation.reporting._reports import broken, survived

__all__ = ["FakeExplorer", "broken", "survived"]


class FakeExplorer:
    """Returns a report, and records how it was called."""

    def __init__(self, report: Report, during: Callable[[ExploreProgress], None] | None = None) -> None:
        self.report = report
        self.during = during
        self.calls: list[dict[str, Any]] = []

    def __call__(
        self,
        program: Any,
        scenario: Any,
        *,
        name: str,
        options: ExploreOptions,
        progress: ExploreProgress,
        saved: SavedFailures | None,
    ) -> Report:
        self.calls.append({"program": program, "scenario": scenario, "name": name, "saved": saved})
        progress.planned(self.report.planned)
        for attempt in self.report.attempts:
            progress.tried(attempt)
        for story in self.report.stories:
            progress.told(story)
        if self.during is not None:
            self.during(progress)
        if saved is not None:
            for attempt in self.report.attempts:
                if attempt.outcome.problems:
                    saved.failed(attempt.plan.schedule)
            saved.write()
        return self.report
