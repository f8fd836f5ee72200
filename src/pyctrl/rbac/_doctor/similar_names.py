"""Names that look like another: which one was meant, and what makes the difference."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

__all__ = ["SimilarName", "similar_name", "unusual_characters"]

CLOSE = 0.75  # of difflib's ratio: one slip in four letters, two in eight

# Letters that most fonts draw as a Latin one, in lower case: Cyrillic, then Greek; NFKC leaves them as they are.
_TWINS = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d"
    "\u03bf\u03bd\u03c1\u03b1\u03ba",
    "aeopcyxijsdhqw" + "ovpak",
)


class SimilarName(NamedTuple):
    """A name that is there, and how it differs from the one that was written."""

    name: str
    difference: str


def similar_name(written: str, names: Iterable[str]) -> SimilarName | None:
    """Find what was probably meant by a name that is not there; None when nothing is close."""
    known = sorted(set(names) - {written})
    drawn = _drawn(written)
    for name in known:
        if drawn and _drawn(name) == drawn:
            return SimilarName(name, _difference(written, name))
    close = difflib.get_close_matches(written, known, n=1, cutoff=CLOSE)
    return SimilarName(close[0], f"{written!r} and {close[0]!r} are one or two letters apart") if close else None


def unusual_characters(name: str) -> list[str]:
    """Name the characters that nobody types into a name: spaces, and what is not ASCII."""
    return [_described(each) for each in dict.fromkeys(name) if not ("!" <= each <= "~")]


@lru_cache(maxsize=4096)  # the same groups and roles are compared again and again
def _drawn(name: str) -> str:
    """Reduce a name to what the eye sees of it: width, case, marks, dashes and blanks are nothing."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_TWINS)
    return "".join(_seen(each) for each in unicodedata.normalize("NFD", folded))


def _seen(character: str) -> str:
    if character == "_" or unicodedata.category(character) == "Pd":
        return "-"
    return character if character.isalnum() or character in "-.:" else ""


def _difference(written: str, name: str) -> str:
    parts = [
        f"{text!r} has {', '.join(strange)}"
        for text in (written, name)
        if (strange := unusual_characters(text)) and strange != unusual_characters(name if text is written else written)
    ]
    if parts:
        return " and ".join(parts)
    if written.casefold() == name.casefold():
        return f"{written!r} and {name!r} differ in upper and lower case"
    return f"{written!r} and {name!r} differ in punctuation"


def _described(character: str) -> str:
    name = unicodedata.name(character, "a character without a name")
    return f"U+{ord(character):04X} {name}"
