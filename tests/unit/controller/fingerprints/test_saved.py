"""The saved form of fingerprints."""

from __future__ import annotations

import pytest

from pyctrl.controller._fingerprints.saved import (
    SavedController,
    SavedKind,
    SavedRead,
    SavedRequest,
    decode_saved,
    encode_saved,
)
from pyctrl.controller._reads.list_selection import ListSelection
from pyctrl.errors import DecodeError


def test_fingerprints_are_read_as_they_were_written() -> None:
    """All parts of fingerprints survive: objects, lists with selectors and indexes, timers."""
    reads = (
        SavedRead(0, b"1" * 12, key=("default", "db")),
        SavedRead(
            0,
            b"2" * 12,
            selection=ListSelection(None, (("app", "=", ("web",)),), "spec.nodeName=a", ("owner", "uid")),
        ),
    )
    requests = (
        SavedRequest("default", "web", b"3" * 12, b"4" * 12, 17, (0, 1), 18.5, -100),
        SavedRequest("", "node", b"5" * 12, b"6" * 12, 19, ()),
    )
    saved = SavedController(("owns Pod",), (SavedKind("Pod", b"3" * 12),), reads, requests)
    assert decode_saved(encode_saved(saved)) == saved


@pytest.mark.parametrize("data", [b"", b"\x00", encode_saved(SavedController((), (), (), ()))[:-1]])
def test_other_bytes_are_refused(data: bytes) -> None:
    """Bytes that are no fingerprints raise a DecodeError."""
    with pytest.raises(DecodeError, match="cannot be decoded"):
        decode_saved(data)
