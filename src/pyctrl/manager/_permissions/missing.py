"""Missing permissions, grouped by resource and described: which runnables need them, and how to grant them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pyctrl import rbac
from pyctrl.api import Access, AccessRule

__all__ = ["MissingPermission", "missing_permissions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPermission:
    """The missing verbs on one resource.

    Attributes:
        accesses: one for each verb.
        affected: the names of the controllers and other runnables that need them.
        is_waiting: whether these wait until it is granted (True), or run while requests fail (False); None: not stated.
        is_essential: whether a runnable cannot work without it.
        remark: the server's remark.
        undeclared: the name of the reconciler class that uses it without declaring it.
        cluster: the cluster; "" for the manager's own.
    """

    accesses: tuple[Access, ...]
    affected: tuple[str, ...] = ()
    is_waiting: bool | None = True
    is_essential: bool = True
    remark: str = ""
    undeclared: str = ""
    cluster: str = ""

    def remedy(self, user: str) -> rbac.Remedy:
        """Return how to grant it to a user."""
        first = self.accesses[0]
        return rbac.remedy(self.rule, first.namespace, user=user)

    @property
    def rule(self) -> AccessRule:
        """The missing rule of an RBAC role."""
        first, verbs = self.accesses[0], tuple(access.verb for access in self.accesses)
        if not first.is_resource:
            return AccessRule(verbs=verbs, paths=(first.path,))
        names = (first.name,) if first.name else ()
        return AccessRule(verbs=verbs, groups=(first.group,), resources=(first.shown_resource,), names=names)

    def text(self, user: str) -> str:
        """Return a message of several lines: what is missing, for which runnables, and the commands that grant it."""
        remedy = self.remedy(user)
        lines = [f"{_and(self.affected) or user or 'its user'} may not {remedy.what}{self._place}{self._consequence}"]
        if self.undeclared:
            lines.append(f"this permission is not declared: {self._declaration}")
        if self.remark:
            lines.append(f"the server adds: {self.remark}")
        if user == "system:anonymous":
            lines.append("the request was anonymous: there are no credentials, or the server did not accept them")
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
            return f", and {'continues' if is_one else 'continue'} without"
        if self.is_waiting:
            return f", and {'waits until it may' if is_one else 'wait until they may'}"
        return f"; failed requests are retried once {'it' if is_one else 'they'} may"

    @property
    def _declaration(self) -> str:
        lacking = rbac.declaration(self.accesses, cluster=self.cluster)
        return f"the rbac of {self.undeclared} lacks {lacking}, and so do the roles generated from it"


def missing_permissions(
    missing: Iterable[tuple[Access, str]],
    affected: Sequence[tuple[str, bool, Iterable[Access]]] = (),
    undeclared: Iterable[tuple[str, Access]] = (),
    dispensable: Collection[Access] = (),
    *,
    cluster: str = "",
) -> list[MissingPermission]:
    """Group missing accesses by resource.

    Args:
        missing: the missing accesses, with the server's remarks.
        affected: the runnables: name, whether it waits, and the accesses that it needs.
        undeclared: names of reconciler classes, with accesses that they use without declaring them.
        dispensable: accesses that the runnables can work without.
        cluster: the cluster; "" for the manager's own.
    """
    found: dict[Access, dict[Access, str]] = {}
    for access, remark in sorted(missing):
        found.setdefault(access._replace(verb=""), {})[access] = remark
    users = [(name, is_waiting, frozenset(accesses)) for name, is_waiting, accesses in affected]
    class_of = {access: name for name, access in undeclared}
    permissions = []
    for _, remarks in sorted(found.items()):
        needing = [(name, is_waiting) for name, is_waiting, needs in users if not needs.isdisjoint(remarks)]
        permissions.append(
            MissingPermission(
                accesses=tuple(remarks),
                affected=tuple(name for name, _ in needing),
                is_waiting=all(is_waiting for _, is_waiting in needing),
                is_essential=not all(access in dispensable for access in remarks),
                remark=next(filter(None, remarks.values()), ""),
                undeclared=next((class_of[access] for access in remarks if access in class_of), ""),
                cluster=cluster,
            )
        )
    return permissions


def _and(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
