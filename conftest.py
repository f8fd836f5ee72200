"""Runs the code blocks of README and docs, and gives tests pytest's own test bench."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator

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
