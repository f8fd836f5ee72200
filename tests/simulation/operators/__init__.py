"""Small operators, each with a known mistake and without it: the simulation is judged by what it finds of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.simulation.operators._case import Case

__all__ = ["CASES", "Case"]

_MODULES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))

CASES: tuple[Case, ...] = tuple(import_module(f"{__name__}.{module}").CASE for module in _MODULES)
