"""Similar names: the name that a misspelt one probably meant, and how the two differ."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

__all__ = ["SimilarName", "similar_name", "unusual_characters"]

CUTOFF = 0.75  # difflib's ratio: one wrong letter in four, two in eight

# Lower-case letters that most fonts draw like a Latin one: Cyrillic, then Greek. NFKC does not change them.
_CONFUSABLES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d"
    "\u03bf\u03bd\u03c1\u03b1\u03ba",
    "aeopcyxijsdhqw" + "ovpak",
)


class SimilarName(NamedTuple):
    """An existing name, and how it differs from the one that was written."""

    name: str
    difference: str


def similar_name(written: str, names: Iterable[str]) -> SimilarName | None:
    """Return the existing name that a misspelt one probably meant; None if none is close."""
    known = sorted(set(names) - {written})
    skeleton = _skeleton(written)
    for name in known:
        if skeleton and _skeleton(name) == skeleton:
            return SimilarName(name, _difference(written, name))
    close = difflib.get_close_matches(written, known, n=1, cutoff=CUTOFF)
    return SimilarName(close[0], f"{written!r} and {close[0]!r} are one or two letters apart") if close else None


def unusual_characters(name: str) -> list[str]:
    """Return descriptions of a name's whitespace, control and non-ASCII characters."""
    return [_described(each) for each in dict.fromkeys(name) if not ("!" <= each <= "~")]


@lru_cache(maxsize=4096)  # the same groups and roles are compared repeatedly
def _skeleton(name: str) -> str:
    """Return a name without the differences that are hard to see: width, case, marks, kinds of dashes, and blanks."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_CONFUSABLES)
    return "".join(_skeleton_character(each) for each in unicodedata.normalize("NFD", folded))


def _skeleton_character(character: str) -> str:
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
