"""The result of the doctor: findings about objects, and the roles of service accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from pyctrl.api import AccessRule, Key

__all__ = ["BoundRole", "Diagnosis", "Finding", "ObjectRef", "RequiredRule", "Severity", "join_words"]

#: ``error``: the object does not work as intended. ``warning``: it probably does not, or it allows too much. ``hint``:
#: worth knowing.
Severity: TypeAlias = Literal["error", "warning", "hint"]


class ObjectRef(NamedTuple):
    """Kind, namespace ("" if cluster-scoped), name and source (a file, or "" for a cluster) of an object."""

    kind: str
    namespace: str
    name: str
    source: str = ""

    @classmethod
    def of(cls, obj: Mapping[str, Any], namespace: str, source: str = "") -> ObjectRef:
        """Return the reference of an object in a namespace."""
        return cls(obj["kind"], namespace, str((obj.get("metadata") or {}).get("name", "")), source)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem, or a probable one.

    Attributes:
        severity: how severe it is.
        code: a machine-readable identifier: ``role-not-found``.
        object: the object to change.
        message: what is wrong, and why.
        cure: YAML or commands that fix it; "" if no fix is known.
    """

    severity: Severity
    code: str
    object: ObjectRef
    message: str
    fix: str = ""

    def to_wire(self) -> dict[str, Any]:
        """Return the finding as JSON-ready dicts."""
        return {
            "severity": self.severity,
            "code": self.code,
            "object": {field: value for field, value in self.object._asdict().items() if value},
            "message": self.message,
            "cure": self.fix,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundRole:
    """A role that is bound to an account.

    Attributes:
        binding: the binding; the rules hold in its namespace, "" is everywhere.
        role: the role that it references.
        rules: the rules of the role; None if the role does not exist.
        is_own: whether users made the binding; False for the default bindings of every cluster.
    """

    binding: ObjectRef
    role: ObjectRef
    rules: tuple[AccessRule, ...] | None
    is_own: bool

    @property
    def namespace(self) -> str:
        """The namespace that the rules hold in; "" is all."""
        return self.binding.namespace

    def __str__(self) -> str:
        where = f"in namespace {self.namespace}" if self.namespace else "everywhere"
        return f"{self.role} by {self.binding}, {where if self.rules is not None else 'which does not exist'}"

    def to_wire(self) -> dict[str, Any]:
        """Return the bound role as JSON-ready dicts."""
        rules = None if self.rules is None else [rule.to_wire() for rule in self.rules]
        return {"binding": str(self.binding), "role": str(self.role), "namespace": self.namespace, "rules": rules}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredRule:
    """A rule that a program needs, and the binding that grants it.

    Attributes:
        rule: one verb on one resource.
        namespace: where it is needed; "" is everywhere.
        granted_by: the binding; None if the rule is not granted.
    """

    rule: AccessRule
    namespace: str
    granted_by: ObjectRef | None

    def to_wire(self) -> dict[str, Any]:
        """Return the rule as JSON-ready dicts."""
        by = None if self.granted_by is None else str(self.granted_by)
        return {"rule": self.rule.to_wire(), "namespace": self.namespace, "grantedBy": by}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The result of `diagnose`.

    Attributes:
        findings: by object; objects with the most severe findings first.
        accounts: the service accounts that were checked, with the roles that users bound to each.
        needs: the rules that the given program needs, each with the binding that grants it.
    """

    findings: tuple[Finding, ...]
    accounts: Mapping[Key, tuple[BoundRole, ...]]
    needs: tuple[RequiredRule, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Whether there is a finding of severity ``error``."""
        return any(each.severity == "error" for each in self.findings)

    def to_wire(self) -> dict[str, Any]:
        """Return the diagnosis as JSON-ready dicts."""
        accounts = {str(key): [bound_role.to_wire() for bound_role in held] for key, held in self.accounts.items()}
        return {
            "findings": [finding.to_wire() for finding in self.findings],
            "accounts": accounts,
            "needs": [need.to_wire() for need in self.needs],
        }


def join_words(words: Iterable[str]) -> str:
    """Join words as in a sentence: ``a, b and c``."""
    *most, last = list(words) or ["nothing"]
    return f"{', '.join(most)} and {last}" if most else last
