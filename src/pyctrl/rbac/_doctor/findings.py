"""What the doctor says: a finding about an object, with a cure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from pyctrl.api import AccessRule, Key

__all__ = ["BoundRole", "Diagnosis", "Finding", "ObjectRef", "RequiredRule", "Severity", "join_words"]

#: An ``error`` does not do what was meant; a ``warning`` probably does not, or does too much; a ``hint`` is worth
#: knowing.
Severity: TypeAlias = Literal["error", "warning", "hint"]


class ObjectRef(NamedTuple):
    """An object by its kind, namespace ("" in none) and name, and where it was read ("" in a cluster)."""

    kind: str
    namespace: str
    name: str
    source: str = ""

    @classmethod
    def of(cls, obj: Mapping[str, Any], namespace: str, source: str = "") -> ObjectRef:
        """Name an object that lives in a namespace."""
        return cls(obj["kind"], namespace, str((obj.get("metadata") or {}).get("name", "")), source)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is wrong, or looks so.

    Attributes:
        severity: how bad it is.
        code: what it is, in one word for programs: ``role-not-found``.
        object: what is to be changed.
        message: what was found, and why it does not do what was meant.
        cure: YAML or command lines that mend it; "" where nobody can know.
    """

    severity: Severity
    code: str
    object: ObjectRef
    message: str
    cure: str = ""

    def to_wire(self) -> dict[str, Any]:
        """Return the finding as JSON-ready dicts."""
        return {
            "severity": self.severity,
            "code": self.code,
            "object": {field: value for field, value in self.object._asdict().items() if value},
            "message": self.message,
            "cure": self.cure,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundRole:
    """A role that an account has by a binding.

    Attributes:
        binding: where it is bound; its namespace is where the rules hold, "" is everywhere.
        role: the role that it names.
        rules: those of the role; None when the role is not there.
        is_own: users made the binding; it is not one that every cluster has.
    """

    binding: ObjectRef
    role: ObjectRef
    rules: tuple[AccessRule, ...] | None
    is_own: bool

    @property
    def namespace(self) -> str:
        """Where the rules hold; "" is everywhere."""
        return self.binding.namespace

    def __str__(self) -> str:
        where = f"in namespace {self.namespace}" if self.namespace else "everywhere"
        return f"{self.role} by {self.binding}, {where if self.rules is not None else 'which is not there'}"

    def to_wire(self) -> dict[str, Any]:
        """Return the holding as JSON-ready dicts."""
        rules = None if self.rules is None else [rule.to_wire() for rule in self.rules]
        return {"binding": str(self.binding), "role": str(self.role), "namespace": self.namespace, "rules": rules}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredRule:
    """A right that a program needs, and what grants it.

    Attributes:
        rule: of one verb on one resource.
        namespace: where; "" is everywhere.
        granted_by: the binding; None where nothing grants it.
    """

    rule: AccessRule
    namespace: str
    granted_by: ObjectRef | None

    def to_wire(self) -> dict[str, Any]:
        """Return the need as JSON-ready dicts."""
        by = None if self.granted_by is None else str(self.granted_by)
        return {"rule": self.rule.to_wire(), "namespace": self.namespace, "grantedBy": by}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was found.

    Attributes:
        findings: by object, those objects first that have the worst.
        accounts: the service accounts that were looked at, with what each holds by bindings of users.
        needs: of the program that was asked about, each right and what grants it.
    """

    findings: tuple[Finding, ...]
    accounts: Mapping[Key, tuple[BoundRole, ...]]
    needs: tuple[RequiredRule, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Whether something does not do what was meant."""
        return any(each.severity == "error" for each in self.findings)

    def to_wire(self) -> dict[str, Any]:
        """Return all of it as JSON-ready dicts."""
        accounts = {str(key): [holding.to_wire() for holding in held] for key, held in self.accounts.items()}
        return {
            "findings": [finding.to_wire() for finding in self.findings],
            "accounts": accounts,
            "needs": [need.to_wire() for need in self.needs],
        }


def join_words(words: Iterable[str]) -> str:
    """Put words into a sentence: ``a, b and c``."""
    *most, last = list(words) or ["nothing"]
    return f"{', '.join(most)} and {last}" if most else last
