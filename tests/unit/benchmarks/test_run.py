from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from _process import PeerFailed
from _results import Call, Results
from _works import Case, Numbers, Server
from run import Suite

from tests.unit.benchmarks._kit import case

LOOP = case(1_000, 3, "loop", "podsets")


class Fails(Suite):
    """Succeeds on the first try, and measures half of the numbers in the run that counts."""

    tries = 0

    def build(self) -> None:
        self._commands["pyctrl", True] = ["pyctrl"]

    def _measured(self, case: Case, peer: str, server: Server | None) -> Numbers:
        self.tries += 1
        if self.tries == 1:
            return {"converge_cpu": 2.0}
        raise PeerFailed("the restart after it: it took more than 300 s", {"converge_cpu": 1.0})


def test_what_was_measured_before_a_failure_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A failure is printed at once, and the numbers measured before it are saved, without those of the first try."""
    told = argparse.Namespace(plan="standard", runs=1, out=tmp_path / "results.json", profile=None, loud=False)
    results = Results(calls=[Call({}, {})])
    suite = Fails({LOOP: ("pyctrl",)}, results, told)
    suite.build()
    assert not suite.run()
    assert Results.load(told.out).values(LOOP, "pyctrl", "converge_cpu") == [1.0]
    assert list(results.calls[0].failures.values()) == ["the restart after it: it took more than 300 s"]
    assert "pyctrl, loop, 1,000 PodSets of 3, 1 workers: the restart after it" in capsys.readouterr().err
