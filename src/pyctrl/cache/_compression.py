"""Keeping objects compressed: those of a kind are much alike, and a dictionary of what they share makes them small."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from pyctrl.errors import CacheError

__all__ = ["Compressor", "Decompress", "compressor_for"]

#: Gives back the bytes that were packed.
Decompress = Callable[[bytes], bytes]

# Less of a kind is not worth what compressing takes: some hundred KB for its state, and its time.
MIN_BYTES = 1 << 20  # bytes
MIN_OBJECTS = 64  # objects; of fewer little can be learnt

# Learning from half a MB takes some 20 ms, in which nothing else runs. Four times as many samples and twice the
# dictionary left pods and custom resources of 4 KB no smaller; a higher level gained below 5 %.
DICTIONARY_BYTES = 16 << 10
SAMPLE_BYTES = 16 << 10  # at most, of one object
LEVEL = 1


class Compressor:
    """Compresses the objects of one kind, as soon as it has seen enough of them to train a dictionary.

    Those that came before stay as they are until they change: a MB of each kind.
    """

    def __init__(self) -> None:
        """Begin without a dictionary.

        Raises:
            CacheError: the package zstandard is not installed.
        """
        try:
            import zstandard  # here: it is an extra
        except ImportError as error:
            raise CacheError(
                "KindOptions(compress=True) needs zstandard: pip install 'pyctrl-runtime[compression]'"
            ) from error
        self._zstd = zstandard
        self._seen: dict[str, bytes] = {}  # by uid: ten objects that change all day are no more than ten
        self._size = 0  # of those
        self._pack: Callable[[bytes], bytes] | None = None
        self._unpack: Decompress | None = None

    def __call__(self, data: bytes, uid: str) -> tuple[bytes, Decompress | None]:
        """Return what to keep of an object, and what makes the object of it again; None: it is the object."""
        if self._pack is None:
            self._size += len(data) - len(self._seen.get(uid, b""))
            self._seen[uid] = data
            if self._size >= MIN_BYTES and len(self._seen) >= MIN_OBJECTS:
                self._train()
            return data, None
        return self._pack(data), self._unpack

    def _train(self) -> None:
        # every second one: objects come by namespaces, and a dictionary should know more than the first of them
        samples: list[bytes | bytearray | memoryview[int]] = [
            data[:SAMPLE_BYTES] for data in list(self._seen.values())[::2]
        ]
        try:
            dictionary = self._zstd.train_dictionary(DICTIONARY_BYTES, samples)
        except self._zstd.ZstdError:  # they have too little in common, or are too small
            dictionary = self._zstd.ZstdCompressionDict(b"".join(samples)[:DICTIONARY_BYTES])
        dictionary.precompute_compress(level=LEVEL)
        self._seen.clear()
        self._pack = self._zstd.ZstdCompressor(level=LEVEL, dict_data=dictionary).compress
        self._unpack = _Decompressor(self._zstd.ZstdDecompressor(dict_data=dictionary).decompress)


class _Decompressor:
    """Unpacks, and remembers the last two: who looks at an object asks one thing after the other, also of its past."""

    def __init__(self, unpack: Decompress) -> None:
        self._unpack = unpack
        self._packed, self._data = b"", b""
        self._former_packed, self._former_data = b"", b""

    def __call__(self, packed: bytes) -> bytes:
        if packed is self._packed:
            return self._data
        if packed is self._former_packed:
            return self._former_data
        data = self._unpack(packed)
        self._former_packed, self._former_data = self._packed, self._data
        self._packed, self._data = packed, data
        return data


def compressor_for(wanted: bool | None) -> Compressor | None:
    """Return what compresses a kind's objects, None when nothing is to; without a wish it is done if it can be.

    Raises:
        CacheError: it is wanted, and the package zstandard is not installed.
    """
    if wanted is None:
        wanted = find_spec("zstandard") is not None
    return Compressor() if wanted else None
