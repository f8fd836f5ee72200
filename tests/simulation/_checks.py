"""What must hold of the cache, the queue and the client of an operator in every run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from pyctrl.api import Key, KindLike
from pyctrl.cache import Created, Deleted, Updated
from pyctrl.controller import Controller, Request, Result
from pyctrl.manager import Manager
from pyctrl.simulation import External, World
from pyctrl.simulation._history import Changed, ProcessChanged, Sent
from tests.simulation._flock import WANTED

if TYPE_CHECKING:
    from tests.simulation._user import User


class Findings(External):
    """What is wrong in a run. It is a part of the world's state, and so of what is compared."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._mirrors: dict[int, dict[KindLike, Mirror]] = {}
        self._user: User | None = None

    @property
    def user(self) -> User:
        """The user of the run."""
        assert self._user is not None, "the scenario has not begun"
        return self._user

    def has_user(self, user: User) -> None:
        """Take the user of the run."""
        self._user = user

    def expect(self, is_so: object, text: str) -> None:
        """Note what is wrong, if it is."""
        if not is_so:
            self.found.append(text)

    def mirrors_of(self, manager: Manager) -> dict[KindLike, Mirror]:
        """Return the mirrors of a process."""
        return self._mirrors.setdefault(id(manager), {})


class Mirror:
    """Subscriber of one kind that checks that each change is a valid successor."""

    def __init__(self, manager: Manager, kind: KindLike, findings: Findings) -> None:
        self._informer, self._expect = manager.cache.informer(kind), findings.expect
        #: Uid and version of each object, as told.
        self.objects: dict[Key, tuple[str, int]] = {}
        self._left: dict[str, int] = {}  # by uid, the version at which the object left

    async def run(self) -> None:
        """Receive changes until cancelled."""
        expect = self._expect
        with self._informer.subscribe() as changes:
            async for change in changes:
                match change:
                    case Created(new):
                        expect(new.key not in self.objects, f"{new.key} is created twice")
                        # it may leave one selector and appear in another, but never in an older state
                        expect(new.version >= self._left.get(new.uid, 0), f"{new.key} comes back from the dead")
                        self.objects[new.key] = (new.uid, new.version)
                    case Updated(old, new):
                        expect(self.objects.get(new.key) == (old.uid, old.version), f"{new.key} was not so before")
                        expect(old.uid == new.uid, f"{new.key} is another object")
                        expect(old.version < new.version, f"{new.key} goes back in time")
                        self.objects[new.key] = (new.uid, new.version)
                    case Deleted(old):
                        known = self.objects.pop(old.key, ("", 0))
                        expect(known[0] == old.uid, f"{old.key} was another object")
                        self._left[old.uid] = old.version


def guard(controller: Controller, findings: Findings) -> None:
    """Note failed assertions of a reconciler, and two reconciles of one request at the same time."""
    inner: Callable[[Request], Awaitable[Result | None]] = controller.reconciler.reconcile
    busy: set[Request] = set()

    async def guarded(request: Request) -> Result | None:
        findings.expect(request not in busy, f"two reconciles of {controller.name} {request} at once")
        busy.add(request)
        try:
            return await inner(request)
        except AssertionError as error:
            findings.found.append(str(error))
            raise
        finally:
            busy.discard(request)

    controller.reconciler.reconcile = guarded  # type: ignore[method-assign]


def knows_its_creates(world: World) -> None:
    """Check a create when the server executes it: a bird is only made if the known ones are too few.

    A process knows what it has listed, and what it has made since, but for answers that were lost.
    """
    born = next(reversed(world.history.entries))
    if not (isinstance(born, Changed) and born.type == "ADDED" and born.by.startswith("operator")):
        return
    wanted = born.obj["metadata"].get("annotations", {}).get(WANTED)
    if wanted is None:
        return
    made, answered = set(), set()
    for entry in reversed(world.history.entries):
        if isinstance(entry, ProcessChanged) and entry.state == "started":
            break
        if isinstance(entry, Changed) and entry.type == "ADDED" and entry.by:
            made.add(entry.uid)
        elif isinstance(entry, Sent) and entry.status == 201 and isinstance(entry.answer, dict):
            answered.add(entry.answer["metadata"].get("uid"))
    (owner,) = born.obj["metadata"]["ownerReferences"]
    known = [
        bird["metadata"]["name"]
        for bird in world.states.wire_objects("", "configmaps", born.target.namespace)
        if bird["metadata"]["uid"] not in made - answered and owner["uid"] in owners_of(bird)
    ]
    assert len(known) < int(wanted), f"{owner['name']} wants {wanted}, has {known}, and gets one more"


def owners_of(found: dict[str, Any]) -> list[str]:
    """Return the uids of the owners of an object in JSON."""
    return [reference["uid"] for reference in found["metadata"].get("ownerReferences", [])]
