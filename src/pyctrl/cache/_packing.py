"""Keeping objects compressed: those of a kind are much alike, and a dictionary of what they share makes them small."""

from __future__ import annotations

from collections.abc import Callable

from pyctrl.errors import CacheError

__all__ = ["Packing", "Unpack"]

#: Gives back the bytes that were packed.
Unpack = Callable[[bytes], bytes]

# zstd's dictionary builder asks for a hundred times the dictionary's size, and a few KB each are enough of a kind:
# https://github.com/facebook/zstd/blob/dev/lib/zdict.h, "Tips". More samples, or a higher level, gained below 5 %.
SAMPLES = 400
DICTIONARY_BYTES = 32 << 10
LEVEL = 1


class Packing:
    """Compresses the objects of one kind, as soon as it has seen enough of them to train a dictionary.

    The first `SAMPLES` stay as they are: a kind with fewer objects is not worth it, and nothing has to be packed later.
    """

    def __init__(self) -> None:
        """Begin without a dictionary.

        Raises:
            CacheError: the package zstandard is not installed.
        """
        try:
            import zstandard  # here: it is an extra
        except ImportError as error:
            raise CacheError("KindOptions(compress=True) needs zstandard: pip install 'pyctrl[compression]'") from error
        self._zstd = zstandard
        self._samples: list[bytes | bytearray | memoryview[int]] = []  # the type that zstandard asks for
        self._pack: Callable[[bytes], bytes] | None = None
        self._unpack: Unpack | None = None

    def __call__(self, data: bytes) -> tuple[bytes, Unpack | None]:
        """Return what to keep of an object, and what makes the object of it again; None: it is the object."""
        if self._pack is None:
            self._samples.append(data)
            if len(self._samples) == SAMPLES:
                self._train()
            return data, None
        return self._pack(data), self._unpack

    def _train(self) -> None:
        try:
            dictionary = self._zstd.train_dictionary(DICTIONARY_BYTES, self._samples)
        except self._zstd.ZstdError:  # they have too little in common, or are too small
            dictionary = self._zstd.ZstdCompressionDict(b"".join(self._samples)[:DICTIONARY_BYTES])
        dictionary.precompute_compress(level=LEVEL)
        self._samples.clear()
        self._pack = self._zstd.ZstdCompressor(level=LEVEL, dict_data=dictionary).compress
        self._unpack = self._zstd.ZstdDecompressor(dict_data=dictionary).decompress
