"""The saved data: checksum, program version, cluster, and the fingerprints of each controller, compressed."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from hashlib import blake2b

import msgspec
from msgspec import Struct

from pyctrl._time_slices import TimeSlice
from pyctrl.errors import DecodeError

__all__ = ["HEAD", "SavedData", "difference", "pack", "unpack"]

MAGIC = b"pyctrl fingerprints 1\n"  # the number is that of the format; any other one is ignored
CHECKSUM_BYTES = 16
HEAD: int = len(MAGIC) + CHECKSUM_BYTES  # bytes
PART = 1 << 16  # bytes compressed at once: a millisecond
LEVEL = 1  # digests do not compress; names do at any level
MAX_BYTES = 1 << 30  # decompressed: more is no data of ours


class SavedData(Struct, frozen=True):
    """What is saved.

    Attributes:
        version: what the program consists of; see `ProgramVersion`.
        cluster: the identity of the cluster.
        controllers: the fingerprints of each controller, by its name.
    """

    version: dict[str, str]
    cluster: str
    controllers: dict[str, bytes]


async def pack(saved: SavedData) -> bytes:
    """Return data as bytes, in time slices."""
    whole, packer, slice_ = memoryview(msgspec.msgpack.encode(saved)), zlib.compressobj(LEVEL), TimeSlice.current()
    parts = []
    for begin in range(0, len(whole), PART):
        parts.append(packer.compress(whole[begin : begin + PART]))
        await slice_.step()
    body = b"".join([*parts, packer.flush()])
    return MAGIC + _checksum(body) + body


def unpack(data: bytes) -> SavedData:
    """Return the data of `pack`.

    Raises:
        DecodeError: it is torn, of another format, or something else.
    """
    body = data[HEAD:]
    if not data.startswith(MAGIC):
        raise DecodeError("they have another format")
    if data[len(MAGIC) : HEAD] != _checksum(body):
        raise DecodeError("their checksum is wrong")
    try:
        return msgspec.msgpack.decode(zlib.decompressobj().decompress(body, MAX_BYTES), type=SavedData)
    except (zlib.error, msgspec.DecodeError) as error:
        raise DecodeError(f"they cannot be decoded: {error}") from error


def difference(saved: Mapping[str, str], present: Mapping[str, str]) -> str:
    """Return the names of the parts of a program's version that differ, such as "files, arguments"; "" if none do."""
    names = dict.fromkeys((*present, *saved))
    return ", ".join(name for name in names if saved.get(name) != present.get(name))


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=CHECKSUM_BYTES).digest()
