"""The saved form of a controller's fingerprints."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from pyctrl.controller._reads.list_selection import ListSelection
from pyctrl.errors import DecodeError

# Structs without gc: there are tens of thousands of them while a controller starts.

__all__ = ["SavedController", "SavedKind", "SavedRead", "SavedRequest", "decode_saved", "encode_saved"]


class SavedKind(Struct, array_like=True, frozen=True, gc=False):
    """A kind of which something was read, with the digest of all of its objects; b"" if that was not known."""

    name: str
    digest: bytes


class SavedRead(Struct, array_like=True, frozen=True, gc=False):
    """Something that requests have read, with its digest.

    Attributes:
        kind: the place of its kind in `SavedController.kinds`.
        digest: the digest of the object or the list.
        key: namespace and name of the object; None for a list.
        selection: what the list selects; None for an object.
    """

    kind: int
    digest: bytes
    key: tuple[str, str] | None = None
    selection: ListSelection | None = None


class SavedRequest(Struct, array_like=True, frozen=True, gc=False):
    """The fingerprint of a request.

    Attributes:
        namespace: the namespace of its object.
        name: the name of its object.
        digest: the digest of its object.
        owned: the digest of the objects that its object owns.
        ran_at: the wall time of its last run, in seconds since the epoch.
        reads: what that run has read: places in `SavedController.reads`.
        due: the wall time at which it is to run again, as that run has requested; None: it has not.
        priority: the priority of that next run.
    """

    namespace: str
    name: str
    digest: bytes
    owned: bytes
    ran_at: int
    reads: tuple[int, ...]
    due: float | None = None
    priority: int = 0


class SavedController(Struct, array_like=True, frozen=True, gc=False):
    """The fingerprints of a controller. ``follows`` says which kinds it follows and how: others count as unknown."""

    follows: tuple[str, ...]
    kinds: tuple[SavedKind, ...]
    reads: tuple[SavedRead, ...]
    requests: tuple[SavedRequest, ...]


_decoder = msgspec.msgpack.Decoder(SavedController)
_encoder = msgspec.msgpack.Encoder()


def encode_saved(saved: SavedController) -> bytes:
    """Return the bytes of fingerprints."""
    return _encoder.encode(saved)


def decode_saved(data: bytes) -> SavedController:
    """Return the fingerprints of `encode_saved`. Raises DecodeError."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise DecodeError(f"the fingerprints of a controller cannot be decoded: {error}") from error
