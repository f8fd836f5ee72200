"""Runs the code blocks of README and docs, and gives tests pytest's own test bench."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings
from sybil import Sybil
from sybil.integration.pytest import SybilItem
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_plugins = ["pytester"]

# A machine that is busy with something else fails no test: Hypothesis does not look at the clock.
settings.register_profile("pyctrl", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pyctrl")

pytest_collect_file = Sybil(parsers=[SkipParser(), PythonCodeBlockParser()], patterns=["*.md"]).pytest()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the blocks of a page back in order after tests were shuffled: each goes on where the one before ended."""
    blocks = [item for item in items if isinstance(item, SybilItem)]
    blocks.sort(key=lambda block: (block.path, block.example.line))
    items[:] = [*(item for item in items if not isinstance(item, SybilItem)), *blocks]


def pytest_collection_finish() -> None:
    """Spare the collector the modules and the thousands of tests that stay to the end: a tenth of the time of all."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def levels_of_the_log() -> Iterator[None]:
    """Put the log's levels back after a test that ran a program: the next one would see more lines than its own."""
    before = {name: logging.getLogger(name).level for name in ("", "pyctrl")}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def imports_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the modules that a test imports from its own directory: the next one has others of the same name."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    imported = {name: module for name, module in sys.modules.items() if name not in before}
    for name in [name for name, module in imported.items() if _is_below(tmp_path, module)]:
        del sys.modules[name]


def _is_below(directory: Path, module: ModuleType) -> bool:
    places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
    return any(Path(place).is_relative_to(directory) for place in places)
