"""Limits of file descriptors: the reserved ones, and spare ones for health probes."""

from __future__ import annotations

import errno
import os
import resource
from contextlib import suppress

import pytest

from pyctrl._http_server.file_descriptors import SpareDescriptors, is_exhaustion, is_scarce


def open_descriptors() -> list[int]:
    """Return the descriptors of this process below 256."""
    found = []
    for number in range(256):
        with suppress(OSError):
            os.fstat(number)
            found.append(number)
    return found


def test_spare_descriptors_are_held_until_they_are_needed() -> None:
    """Each spare descriptor is released once, and `fill` opens the missing ones again."""
    before = len(open_descriptors())
    spares = SpareDescriptors(2)
    try:
        spares.fill()
        assert len(open_descriptors()) == before + 2
        assert [spares.give_up_one() for _ in range(3)] == [True, True, False]
        assert len(open_descriptors()) == before
        spares.fill()
        assert len(open_descriptors()) == before + 2
    finally:
        spares.close()
    assert len(open_descriptors()) == before
    spares.fill()
    assert len(open_descriptors()) == before


@pytest.mark.parametrize(
    ("limit", "first_scarce"),
    [(1024, 1024 - 64), (100, 75)],
)
def test_the_last_descriptors_are_reserved(monkeypatch: pytest.MonkeyPatch, limit: int, first_scarce: int) -> None:
    """64 descriptors are reserved, or a quarter of a small limit."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    assert [is_scarce(first_scarce - 1), is_scarce(first_scarce)] == [False, True]


def test_without_a_limit_none_is_scarce(monkeypatch: pytest.MonkeyPatch) -> None:
    """With RLIM_INFINITY no descriptor is reserved or scarce."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert not is_scarce(1_000_000)


def test_only_missing_resources_are_exhaustion() -> None:
    """A closed client is an error of `accept` that does not count as exhaustion."""
    assert is_exhaustion(OSError(errno.EMFILE, ""))
    assert is_exhaustion(OSError(errno.ENOMEM, ""))
    assert not is_exhaustion(OSError(errno.ECONNABORTED, ""))
