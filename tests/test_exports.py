"""The public names, pinned: adding one is a decision, losing one breaks somebody."""

from __future__ import annotations

import importlib
import inspect

import pytest

from tools.public_names import SNAPSHOT, doors, public_names


def test_public_names_are_those_listed() -> None:
    """The public names are exactly those in tests/public_names.txt; `make generate` writes it anew."""
    assert public_names() == SNAPSHOT.read_text().splitlines()


@pytest.mark.parametrize("door", doors())
def test_every_door_opens(door: str) -> None:
    """Each name in a room's `__all__` exists, once, and the room's docstring says what it is for."""
    module = importlib.import_module(door)

    assert (module.__doc__ or "").strip()
    assert len(module.__all__) == len(set(module.__all__))
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("door", [door for door in doors() if door != "pyctrl"])
def test_public_classes_and_functions_are_documented(door: str) -> None:
    """Each public class and function has a docstring of its own, which gives its contract."""
    module = importlib.import_module(door)
    silent = [
        name
        for name in module.__all__
        if inspect.isclass(value := getattr(module, name)) or inspect.isfunction(value)
        if not (value.__doc__ or "").strip()
    ]

    assert not silent, ", ".join(silent)
