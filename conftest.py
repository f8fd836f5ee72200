"""Runs the code blocks of README and docs, and gives tests pytest's own test bench."""

from __future__ import annotations

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_plugins = ["pytester"]

pytest_collect_file = Sybil(
    parsers=[SkipParser(), PythonCodeBlockParser()],
    patterns=["README.md", "docs/**/*.md"],
).pytest()
