"""What the runnables of a manager need, by who needs it: what they declare, and what they turned out to use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pyctrl.api import Access
from pyctrl.cache import Informer
from pyctrl.controller import Controller
from pyctrl.manager._permissions.access_review import AccessReview
from pyctrl.manager._permissions.missing import MissingPermission, missing_permissions
from pyctrl.manager._runnables.runnable import RunnableHandle
from pyctrl.rbac import Grants, Permission

__all__ = ["RequiredPermissions", "RunnablePermissions"]


@dataclass(frozen=True, slots=True)
class RunnablePermissions:
    """What one runnable needs."""

    name: str
    controller: Controller | None
    accesses: Sequence[Access]
    #: Those of them that it can do without.
    dispensable: frozenset[Access] = frozenset()

    @property
    def is_waiting(self) -> bool:
        """Whether it does nothing as long as something is missing."""
        return self.controller is not None and not self.controller.state.is_at_work


class RequiredPermissions:
    """What is needed, as of the last `refresh`.

    Args:
        members: what runs, with the permissions that it declares.
        informers: what is cached.
        resolve: which of these permissions are needed here, and in which namespaces.
        cluster: the name of the cluster, unless it is the manager's own.
    """

    def __init__(
        self,
        *,
        members: Callable[[], Iterable[RunnableHandle]],
        informers: Callable[[], Iterable[Informer]],
        resolve: Callable[[Iterable[Permission]], Grants],
        cluster: str = "",
    ) -> None:
        self._cluster = cluster
        self._members, self._informers, self._resolve = members, informers, resolve
        self._all: Sequence[RunnablePermissions] = ()
        self._undeclared: dict[str, dict[Access, None]] = {}  # by controller

    def refresh(self) -> None:
        """Find out what is needed now: runnables come and go, and resources get to be known by name."""
        guessed = {i.resource[:2] for i in self._informers() if i.resource.namespaced is None}
        found = []
        for member in self._members():
            accesses = [a for a in self._resolve(member.rbac).accesses() if (a.group, a.resource) not in guessed]
            essential = set(self._resolve(each for each in member.rbac if each.is_essential).accesses())
            dispensable = frozenset(accesses) - essential
            controller = member.runnable if isinstance(member.runnable, Controller) else None
            accesses += self._undeclared.get(member.name, ()) if controller is not None else ()
            if accesses or controller is not None:
                found.append(RunnablePermissions(member.name, controller, accesses, dispensable))
        self._all = found

    def accesses(self, of: Controller | None = None) -> Iterable[Access]:
        """Return what is needed, each once, by a controller or by all."""
        needs = [need for need in self._all if of is None or need.controller is of]
        return dict.fromkeys(access for need in needs for access in need.accesses)

    def of_controllers(self) -> Iterable[tuple[Controller, RunnablePermissions]]:
        """Return what each controller needs."""
        return [(need.controller, need) for need in self._all if need.controller is not None]

    def note_undeclared(self, controller: Controller, access: Access) -> None:
        """Take note of what a controller uses and has not declared; it counts from the next `refresh` on."""
        self._undeclared.setdefault(controller.name, {})[access] = None

    def forget_undeclared(self, access: Access) -> None:
        """Forget what is granted, declared or not."""
        for undeclared in self._undeclared.values():
            undeclared.pop(access, None)

    # --- in words ---

    def gaps(self, missing: Iterable[AccessReview]) -> list[MissingPermission]:
        """Put what is missing together by resource, with who needs it."""
        classes = {controller.name: type(controller.reconciler).__name__ for controller, _ in self.of_controllers()}
        undeclared = [(classes[name], a) for name, of in self._undeclared.items() if name in classes for a in of]
        users = [(need.name, need.is_waiting, self._own(need)) for need in self._all]
        dispensable = {access for need in self._all for access in need.dispensable}
        remarked = [(review.access, review.remark) for review in missing]
        return missing_permissions(remarked, users, undeclared, dispensable, cluster=self._cluster)

    def affected(self, missing: Iterable[Access]) -> dict[str, str]:
        """Say of each who needs something of it what is missing."""
        lacking = set(missing)
        found = {need.name: [str(access) for access in self._own(need) if access in lacking] for need in self._all}
        return {name: f"it may not {', '.join(words)}" for name, words in found.items() if words}

    def _own(self, need: RunnablePermissions) -> Sequence[Access]:
        """Return what somebody is named for. The cache needs what controllers need: it is named for the rest only."""
        if need.controller is not None:
            return need.accesses
        theirs = {access for _, their in self.of_controllers() for access in their.accesses}
        return [access for access in need.accesses if access not in theirs]
