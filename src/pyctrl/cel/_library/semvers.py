"""Kubernetes' semver library."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from pyctrl._go.text import quoted
from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._library.arithmetic import UINT_MAX
from pyctrl.cel._signatures import Table

__all__ = ["SEMVERS"]


_LONGEST = 20  # digits of the largest number of 64 bits
_NUMBER = re.compile(r"\d+")
_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Semver:
    """A semantic version; comparisons ignore `build`."""

    TYPE: ClassVar[str] = "kubernetes.Semver"
    numbers: tuple[int, int, int]
    pre: tuple[str, ...]
    build: tuple[str, ...] = field(compare=False)


def _semver(text: str, normalize: bool = False) -> Semver:
    text = _normalize(text) if normalize else text
    if not text:
        raise EvaluationFailed("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvaluationFailed("No Major.Minor.Patch elements found")
    major, minor = _number("major", parts[0]), _number("minor", parts[1])
    rest, plus, build = parts[2].partition("+")
    patch, dash, pre = rest.partition("-")
    return Semver(
        (major, minor, _number("patch", patch)),
        tuple(_pre(each) for each in pre.split(".")) if dash else (),
        tuple(_build(each) for each in build.split(".")) if plus else (),
    )


def _normalize(text: str) -> str:
    """Remove a leading v and leading zeros, and add missing numbers."""
    parts = [_without_zeros(each) for each in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3 and re.search("[-+]", parts[-1]):
        raise EvaluationFailed("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][: max(len(parts), 3)])


def _without_zeros(text: str) -> str:
    if len(text) < 2:
        return text
    rest = text.lstrip("0")
    return rest if rest[:1].isdigit() else f"0{rest}"


def _number(name: str, text: str) -> int:
    if text.strip("0123456789"):
        raise EvaluationFailed(f"Invalid character(s) found in {name} number {quoted(text)}")
    if len(text) > 1 and text.startswith("0"):
        raise EvaluationFailed(f"{name.capitalize()} number must not contain leading zeroes {quoted(text)}")
    if not text or len(text) > _LONGEST or int(text) > UINT_MAX:
        why = "value out of range" if text else "invalid syntax"
        raise EvaluationFailed(f"strconv.ParseUint: parsing {quoted(text)}: {why}")
    return int(text)


def _pre(text: str) -> str:
    if not text:
        raise EvaluationFailed("Prerelease is empty")
    if _NUMBER.fullmatch(text):
        if len(text) > 1 and text.startswith("0"):
            raise EvaluationFailed(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
    elif not _IDENTIFIER.fullmatch(text):
        raise EvaluationFailed(f'Invalid character(s) found in prerelease "{text}"')
    return text


def _build(text: str) -> str:
    if not text:
        raise EvaluationFailed("Build meta data is empty")
    if not _IDENTIFIER.fullmatch(text):
        raise EvaluationFailed(f'Invalid character(s) found in build meta data "{text}"')
    return text


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except EvaluationFailed:
        return False
    return True


def _order(version: Semver) -> tuple[object, ...]:
    """Return the sort key: numeric identifiers before others, prereleases before the release."""
    pre = tuple((0, len(each), each) if each.isdigit() else (1, 0, each) for each in version.pre)
    return (*version.numbers, not version.pre, pre)


def _before(left: Semver, right: Semver) -> bool:
    return _order(left) < _order(right)


SEMVERS: Table = {
    "semver": [("(string) -> kubernetes.Semver", _semver), ("(string, bool) -> kubernetes.Semver", _semver)],
    "isSemver": [("(string) -> bool", _is_semver), ("(string, bool) -> bool", _is_semver)],
    "major": [("kubernetes.Semver.() -> int", lambda version: version.numbers[0])],
    "minor": [("kubernetes.Semver.() -> int", lambda version: version.numbers[1])],
    "patch": [("kubernetes.Semver.() -> int", lambda version: version.numbers[2])],
    "isLessThan": [("kubernetes.Semver.(kubernetes.Semver) -> bool", _before)],
    "isGreaterThan": [("kubernetes.Semver.(kubernetes.Semver) -> bool", lambda a, b: _before(b, a))],
    "compareTo": [("kubernetes.Semver.(kubernetes.Semver) -> int", lambda a, b: _before(b, a) - _before(a, b))],
}
