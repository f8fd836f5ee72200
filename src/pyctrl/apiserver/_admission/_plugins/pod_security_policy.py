"""Levels, versions and labels of the Pod Security Standards."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from pyctrl.apiserver._errors import FieldError, invalid_value

__all__ = [
    "LATEST",
    "LEVELS",
    "PREFIX",
    "PRIVILEGED",
    "Level",
    "LevelVersion",
    "Policy",
    "find_level",
    "find_version",
    "policy_to_evaluate",
]


PREFIX: Final = "pod-security.kubernetes.io/"
LATEST: Final = 1_000_000  # the minor version of `latest`, newer than all others

Level: TypeAlias = Literal["privileged", "baseline", "restricted"]
LEVELS: Final[tuple[Level, ...]] = ("privileged", "baseline", "restricted")  # from least to most strict
_VERSION: Final = re.compile(r"v1\.([0-9]|[1-9][0-9]*)")
_MAX_DIGITS: Final = 18  # more do not fit Go's int


class LevelVersion(NamedTuple):
    """A level of the standards as of a minor version of Kubernetes."""

    level: Level
    version: int

    def __str__(self) -> str:
        return f"{self.level}:{'latest' if self.version == LATEST else f'v1.{self.version}'}"

    def is_stricter_than(self, other: LevelVersion) -> bool:
        """Compare the levels."""
        return LEVELS.index(self.level) > LEVELS.index(other.level)

    def is_equivalent(self, other: LevelVersion) -> bool:
        """Return whether both allow the same pods: versions of `privileged` do not differ."""
        return self == other or self.level == other.level == "privileged"


PRIVILEGED: Final = LevelVersion("privileged", LATEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The policy of a namespace: what is denied, annotated in the audit event, and warned of."""

    enforce: LevelVersion = PRIVILEGED
    audit: LevelVersion = PRIVILEGED
    warn: LevelVersion = PRIVILEGED

    @property
    def is_privileged(self) -> bool:
        """Whether all three modes allow everything."""
        return self.enforce.level == self.audit.level == self.warn.level == "privileged"

    def is_equivalent(self, other: Policy) -> bool:
        """Return whether both have the same effects."""
        pairs = ((self.enforce, other.enforce), (self.audit, other.audit), (self.warn, other.warn))
        return all(mine.is_equivalent(theirs) for mine, theirs in pairs)


def policy_to_evaluate(labels: Mapping[str, str], defaults: Policy) -> tuple[Policy, list[FieldError]]:
    """Return the policy of a namespace and the errors of its labels.

    Invalid values become `restricted` and `latest` for enforce, and `privileged` for audit and warn.
    """
    errors: list[FieldError] = []
    enforce = _mode(labels, "enforce", defaults.enforce, "restricted", errors)
    audit = _mode(labels, "audit", defaults.audit, "privileged", errors)
    warn = _mode(labels, "warn", defaults.warn, "privileged", errors)
    is_set = labels.get(f"{PREFIX}enforce") in LEVELS and f"{PREFIX}warn" not in labels
    if is_set and enforce.is_stricter_than(warn):
        version = warn.version if f"{PREFIX}warn-version" in labels else enforce.version
        warn = LevelVersion(enforce.level, version)
    return Policy(enforce=enforce, audit=audit, warn=warn), errors


def _mode(
    labels: Mapping[str, str], mode: str, default: LevelVersion, otherwise: Level, errors: list[FieldError]
) -> LevelVersion:
    level, version = default
    if (given := labels.get(f"{PREFIX}{mode}")) is not None:
        found = find_level(given)
        if found is None:
            errors.append(_invalid(mode, given, f"must be one of {', '.join(LEVELS)}"))
        level = found or otherwise
    if (given := labels.get(f"{PREFIX}{mode}-version")) is not None:
        minor = find_version(given)
        if minor is None:
            errors.append(_invalid(f"{mode}-version", given, 'must be "latest" or "v1.x"'))
        version = LATEST if minor is None else minor
    return LevelVersion(level, version)


def find_level(text: str) -> Level | None:
    """Return a level; None for another text."""
    return next((level for level in LEVELS if level == text), None)


def find_version(text: str) -> int | None:
    """Return the minor version of `v1.x` or `latest`; None for another text."""
    if text == "latest":
        return LATEST
    found = _VERSION.fullmatch(text)
    return int(found[1]) if found and len(found[1]) <= _MAX_DIGITS else None


def _invalid(label: str, value: str, why: str) -> FieldError:
    return invalid_value(f"metadata.labels[{PREFIX}{label}]", value, why)
