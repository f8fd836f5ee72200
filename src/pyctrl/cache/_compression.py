"""Compression of cached objects, with a dictionary that is trained on objects of the same kind."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from pyctrl.errors import CacheError

__all__ = ["Compressor", "Decompress", "compressor_for"]

#: Returns the bytes that were compressed.
Decompress = Callable[[bytes], bytes]

# Compressing a smaller amount does not pay: the compressor's state takes some hundred KB.
MIN_BYTES = 1 << 20  # bytes
MIN_OBJECTS = 64  # objects; fewer are too few samples

# Training on half a MB blocks for some 20 ms. Four times as many samples and twice the dictionary made pods and custom
# resources of 4 KB no smaller, and a higher level gained less than 5 %.
DICTIONARY_BYTES = 16 << 10
SAMPLE_BYTES = 16 << 10  # at most, of one object
LEVEL = 1


class Compressor:
    """Compresses the objects of one kind, once it has seen enough of them to train a dictionary.

    Objects that came before stay uncompressed until they change: one MB of each kind.
    """

    def __init__(self) -> None:
        """Start without a dictionary.

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
        self._seen: dict[str, bytes] = {}  # by uid, so that repeated changes of few objects are few samples
        self._size = 0  # bytes in `_seen`
        self._pack: Callable[[bytes], bytes] | None = None
        self._unpack: Decompress | None = None

    def __call__(self, data: bytes, uid: str) -> tuple[bytes, Decompress | None]:
        """Return the bytes to store for an object, and the function that decompresses them; None: not compressed."""
        if self._pack is None:
            self._size += len(data) - len(self._seen.get(uid, b""))
            self._seen[uid] = data
            if self._size >= MIN_BYTES and len(self._seen) >= MIN_OBJECTS:
                self._train()
            return data, None
        return self._pack(data), self._unpack

    def _train(self) -> None:
        # Every second object: objects come by namespace, and the samples should be of several.
        samples: list[bytes | bytearray | memoryview[int]] = [
            data[:SAMPLE_BYTES] for data in list(self._seen.values())[::2]
        ]
        try:
            dictionary = self._zstd.train_dictionary(DICTIONARY_BYTES, samples)
        except self._zstd.ZstdError:  # the samples have too little in common, or are too small
            dictionary = self._zstd.ZstdCompressionDict(b"".join(samples)[:DICTIONARY_BYTES])
        dictionary.precompute_compress(level=LEVEL)
        self._seen.clear()
        self._pack = self._zstd.ZstdCompressor(level=LEVEL, dict_data=dictionary).compress
        self._unpack = _Decompressor(self._zstd.ZstdDecompressor(dict_data=dictionary).decompress)


class _Decompressor:
    """Decompresses, and caches the last two results: predicates and handlers read fields of old and new by turns."""

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
    """Return the compressor of a kind, or None; ``wanted`` None means: if zstandard is installed.

    Raises:
        CacheError: compression is wanted, and the package zstandard is not installed.
    """
    if wanted is None:
        wanted = find_spec("zstandard") is not None
    return Compressor() if wanted else None
