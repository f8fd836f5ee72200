"""Rights that are missing, put into words: what, for whom, and how to grant it. Asks nobody."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pyctrl import rbac
from pyctrl.api import Access, AccessRule

__all__ = ["MissingPermission", "missing_permissions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPermission:
    """Verbs on one resource that are missing together.

    Attributes:
        accesses: one for each verb.
        affected: the names of controllers, and of what else needs it, as a message shows them.
        is_waiting: whether these do nothing until it is granted, or run, and what needs it fails; None says neither.
        is_essential: whether somebody needs it who cannot do without.
        remark: what the server said.
        undeclared: the name of the reconciler's class that uses it without saying so.
        cluster: where it is missing; "" for the manager's own.
    """

    accesses: tuple[Access, ...]
    affected: tuple[str, ...] = ()
    is_waiting: bool | None = True
    is_essential: bool = True
    remark: str = ""
    undeclared: str = ""
    cluster: str = ""

    def remedy(self, user: str) -> rbac.Remedy:
        """Say how to grant it to a user."""
        first = self.accesses[0]
        return rbac.remedy(self.rule, first.namespace, user=user)

    @property
    def rule(self) -> AccessRule:
        """The rule that is missing."""
        first, verbs = self.accesses[0], tuple(access.verb for access in self.accesses)
        if not first.is_resource:
            return AccessRule(verbs=verbs, paths=(first.path,))
        names = (first.name,) if first.name else ()
        return AccessRule(verbs=verbs, groups=(first.group,), resources=(first.shown_resource,), names=names)

    def text(self, user: str) -> str:
        """Say what is missing, for whom, and what to do about it; several lines, the commands last."""
        remedy = self.remedy(user)
        lines = [f"{_and(self.affected) or user or 'its user'} may not {remedy.what}{self._place}{self._consequence}"]
        if self.undeclared:
            lines.append(f"it is not declared: {self._declaration}")
        if self.remark:
            lines.append(f"the server adds: {self.remark}")
        if user == "system:anonymous":
            lines.append("the server does not know who asks: there is no login, or it was not accepted")
        return "\n".join((*lines, remedy.text))

    @property
    def _place(self) -> str:
        return f" of cluster {self.cluster!r}" if self.cluster else ""

    @property
    def _consequence(self) -> str:
        is_one = len(self.affected) == 1
        if not self.affected or self.is_waiting is None:
            return ""
        if not self.is_essential:
            return f", and {'goes' if is_one else 'go'} on without"
        if self.is_waiting:
            return f", and {'waits until it may' if is_one else 'wait until they may'}"
        return f"; what fails of it is tried again once {'it' if is_one else 'they'} may"

    @property
    def _declaration(self) -> str:
        lacking = rbac.declaration(self.accesses, cluster=self.cluster)
        return f"the rbac of {self.undeclared} lacks {lacking}, and so do roles that are made of it"


def missing_permissions(
    missing: Iterable[tuple[Access, str]],
    affected: Sequence[tuple[str, bool, Iterable[Access]]] = (),
    undeclared: Iterable[tuple[str, Access]] = (),
    dispensable: Collection[Access] = (),
    *,
    cluster: str = "",
) -> list[MissingPermission]:
    """Put the verbs of each resource together.

    Args:
        missing: what is missing, with the server's remark.
        affected: who needs what: a name, whether it waits, and its accesses.
        undeclared: names of classes, and what they use without saying so.
        dispensable: what those who need it can do without.
        cluster: where; "" for the manager's own.
    """
    found: dict[Access, dict[Access, str]] = {}
    for access, remark in sorted(missing):
        found.setdefault(access._replace(verb=""), {})[access] = remark
    users = [(name, is_waiting, frozenset(accesses)) for name, is_waiting, accesses in affected]
    silent = {access: name for name, access in undeclared}
    made = []
    for _, remarks in sorted(found.items()):
        who = [(name, is_waiting) for name, is_waiting, needs in users if not needs.isdisjoint(remarks)]
        made.append(
            MissingPermission(
                accesses=tuple(remarks),
                affected=tuple(name for name, _ in who),
                is_waiting=all(is_waiting for _, is_waiting in who),
                is_essential=not all(access in dispensable for access in remarks),
                remark=next(filter(None, remarks.values()), ""),
                undeclared=next((silent[access] for access in remarks if access in silent), ""),
                cluster=cluster,
            )
        )
    return made


def _and(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
