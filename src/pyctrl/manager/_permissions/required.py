"""The permissions that a manager's runnables require: declared ones, and undeclared ones that they use."""

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
    """The accesses that one runnable needs."""

    name: str
    controller: Controller | None
    accesses: Sequence[Access]
    #: Those that it can work without.
    dispensable: frozenset[Access] = frozenset()

    @property
    def is_waiting(self) -> bool:
        """Whether it waits while an access is missing."""
        return self.controller is not None and not self.controller.state.is_at_work


class RequiredPermissions:
    """The accesses needed in one cluster, as of the last `refresh`.

    Args:
        members: returns the runnables, with the permissions that they declare.
        informers: returns the informers of the cache.
        resolve: returns the permissions that apply to this cluster, by namespace.
        cluster: the name of the cluster; "" for the manager's own.
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
        """Update what is needed: runnables are added and end, and discovery finds the resources of kinds."""
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
        """Return the accesses needed by a controller or by all runnables, each once."""
        needs = [need for need in self._all if of is None or need.controller is of]
        return dict.fromkeys(access for need in needs for access in need.accesses)

    def of_controllers(self) -> Iterable[tuple[Controller, RunnablePermissions]]:
        """Return the needs of each controller."""
        return [(need.controller, need) for need in self._all if need.controller is not None]

    def note_undeclared(self, controller: Controller, access: Access) -> None:
        """Record an access that a controller uses without declaring it; it counts from the next `refresh` on."""
        self._undeclared.setdefault(controller.name, {})[access] = None

    def forget_undeclared(self, access: Access) -> None:
        """Forget an undeclared access that has been granted."""
        for undeclared in self._undeclared.values():
            undeclared.pop(access, None)

    # --- descriptions ---

    def missing_permissions(self, missing: Iterable[AccessReview]) -> list[MissingPermission]:
        """Group missing accesses by resource, with the runnables that need them."""
        classes = {controller.name: type(controller.reconciler).__name__ for controller, _ in self.of_controllers()}
        undeclared = [(classes[name], a) for name, of in self._undeclared.items() if name in classes for a in of]
        users = [(need.name, need.is_waiting, self._own(need)) for need in self._all]
        dispensable = {access for need in self._all for access in need.dispensable}
        remarked = [(review.access, review.remark) for review in missing]
        return missing_permissions(remarked, users, undeclared, dispensable, cluster=self._cluster)

    def affected(self, missing: Iterable[Access]) -> dict[str, str]:
        """Return a description of the missing accesses, by the name of the runnable that needs them."""
        lacking = set(missing)
        found = {need.name: [str(access) for access in self._own(need) if access in lacking] for need in self._all}
        return {name: f"it may not {', '.join(words)}" for name, words in found.items() if words}

    def _own(self, need: RunnablePermissions) -> Sequence[Access]:
        """Return the accesses that a runnable is named for; for the cache, without those of controllers."""
        if need.controller is not None:
            return need.accesses
        theirs = {access for _, their in self.of_controllers() for access in their.accesses}
        return [access for access in need.accesses if access not in theirs]
