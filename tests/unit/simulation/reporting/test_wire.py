"""Reports as JSON."""

from __future__ import annotations

import json

from pyctrl.simulation._reporting import report_to_wire
from tests.unit.simulation.reporting._reports import broken, survived

TEXT = "crash-during create jobs default/web-*#1"


def test_an_operator_that_survived() -> None:
    """The counts are there in all, by family, and by point and family."""
    wire = report_to_wire(survived())
    assert wire["version"] == 1
    assert (wire["program"], wire["survived"], wire["seed"], wire["seconds"]) == ("podset", True, 0, 2.0)
    assert wire["plans"] == {"planned": 5, "tried": 4, "failed": 0, "notReached": 1}
    assert wire["families"][0] == {"family": "crash", "tried": 2, "failed": 0, "notReached": 0}
    assert wire["points"][1] == {
        "point": "create jobs default/web-*#1",
        "family": "error",
        "tried": 1,
        "failed": 0,
        "notReached": 1,
    }
    assert wire["stories"] == wire["failures"] == []


def test_a_story_and_the_failures() -> None:
    """A story has all of its parts, and what replays it; every schedule that failed is listed."""
    wire = report_to_wire(broken(), command="pyctrl simulate web.py --replay {schedule}")
    (story,) = wire["stories"]
    assert story["replay"] == {
        "mark": f'@pytest.mark.replay("{TEXT}")',
        "command": f'pyctrl simulate web.py --replay "{TEXT}"',
    }
    assert story["guess"].startswith("create is not idempotent")
    assert story["problems"][0]["kind"] == "end-state"
    assert set(story) == {"title", "events", "problems", "diff", "guess", "schedule", "replay"}
    assert wire["failures"][0] == {"family": "crash", "schedule": TEXT}
    assert not wire["survived"]
    json.dumps(wire)
