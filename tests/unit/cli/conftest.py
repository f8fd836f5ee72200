"""Commands in this process, which start faster than a new one."""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pyctrl.cli import main
from tests.unit.cli._command import Outcome

Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run a command line, and restore the state of the process afterwards."""
    root, frozen = logging.getLogger(), gc.get_freeze_count()
    interrupt, threshold, level, handlers = (
        signal.getsignal(signal.SIGINT), gc.get_threshold(), root.level, root.handlers[:]
    )  # fmt: skip

    def call(*arguments: str | Path) -> Outcome:
        code = main([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    yield call
    signal.signal(signal.SIGINT, interrupt)
    gc.set_threshold(*threshold)
    if gc.get_freeze_count() > frozen:  # a server calls gc.freeze
        gc.unfreeze()
        gc.collect()
        gc.freeze()
    root.setLevel(level)
    root.handlers[:] = handlers
