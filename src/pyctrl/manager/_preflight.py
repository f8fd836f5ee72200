"""Whether the login may do what the program needs: reviewed at start, and whenever the server has refused something."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from functools import partial

from pyctrl.api import Access
from pyctrl.cache import Informer
from pyctrl.client import Client
from pyctrl.controller import Controller, ControllerState
from pyctrl.errors import Forbidden, MissingRights
from pyctrl.manager._gaps import Gap, gaps
from pyctrl.manager._reviews import Review, Verdict, review_accesses, whoami
from pyctrl.manager._runnables import Member
from pyctrl.rbac import Grants, Permission

__all__ = ["Preflight", "RightsWatch"]

log = logging.getLogger("pyctrl.manager")

PAUSES = (2.0, 4.0, 8.0, 16.0, 30.0)  # seconds until what is missing is reviewed again; the last one for ever
REMINDER = 300.0  # seconds; whoever looks at the end of a log sees why nothing happens
PATIENCE = 10.0  # seconds for the reviews of one round; a server that is alive takes milliseconds
APART = 2.0  # seconds between reviews that refusals ask for: of a server that says one thing and does another

_AT_WORK = (ControllerState.RUNNING, ControllerState.LACKING_RIGHTS)


class Preflight(Enum):
    """What a manager does about rights that are missing."""

    #: Nothing: whoever needs them finds out.
    OFF = "off"
    #: Say what is missing and how to grant it; controllers that need it wait, the others run.
    WARN = "warn"
    #: At start, end with `MissingRights`; later, as `WARN`.
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class _Need:
    """What one runnable needs."""

    name: str
    controller: Controller | None
    accesses: Sequence[Access]

    @property
    def is_waiting(self) -> bool:
        """Whether it does nothing as long as something is missing."""
        return self.controller is not None and self.controller.state not in _AT_WORK


class RightsWatch:
    """Review what a manager's runnables need, say what is missing, and let controllers know what they lack.

    Ready when everything was reviewed once, or could not be within ten seconds; what is unknown keeps nobody from
    anything. What is missing is reviewed again, after 2 to 30 seconds, until it is granted; then, at once, controllers
    that waited for it begin, kinds are listed, and requests that were refused are tried again.

    Args:
        client: whose rights are reviewed, and how.
        is_strict: missing rights are an error, at start.
        members: what runs, with what it needs.
        informers: what is cached.
        resolve: which namespaces permissions are about.
    """

    name = "preflight"

    def __init__(
        self,
        client: Client,
        *,
        is_strict: bool,
        members: Callable[[], Iterable[Member]],
        informers: Callable[[], Iterable[Informer]],
        resolve: Callable[[Iterable[Permission]], Grants],
    ) -> None:
        self._client, self._is_strict = client, is_strict
        self._members, self._informers, self._resolve = members, informers, resolve
        self._needs: Sequence[_Need] = ()
        self._reviews: dict[Access, Review] = {}
        self._told: dict[Access, None] = {}  # missing, and said so
        self._suspects: dict[Access, None] = {}  # refused, although nobody knows that they are missing
        self._undeclared: dict[str, dict[Access, None]] = {}  # by controller: refused, and not in its declaration
        self._user: str | None = None
        self._is_mute = False  # said that reviews are not answered
        self._pauses = 0
        self._reviewed_at = 0.0
        self._reminded_at = 0.0
        self._news = asyncio.Event()
        self._reviewed = asyncio.Event()

    # --- what others tell, and ask ---

    def adopt(self, controller: Controller) -> None:
        """Look after a controller: it waits until its rights have been reviewed."""
        controller.rights.expect_review()
        controller.rights.on_refusal = partial(self.suspect, by=controller)
        self._news.set()

    def suspect(self, error: Forbidden, by: Controller | None = None) -> bool:
        """Take note of a refusal; say whether what to do about it is told here."""
        refused = Access.refused_by(error)
        if refused is None or not self._reviewed.is_set():
            return refused is not None  # the first review is on its way
        suspects = [access for access in self._accesses(by) if access.includes(refused)]
        if not suspects and by is not None:
            self._undeclared.setdefault(by.name, {})[refused] = None
            suspects = [refused]
        self._user = self._user or error.user
        verdicts = {self._reviews[access].verdict for access in suspects if access in self._reviews}
        if Verdict.UNKNOWN in verdicts:
            if by is not None:
                self._tell_missing([Review(access=refused, verdict=Verdict.MISSING)])  # the refusal is proof enough
            return by is not None
        if Verdict.MISSING not in verdicts and not (suspects and self._suspects.keys() >= set(suspects)):
            self._suspects.update(
                dict.fromkeys(suspects)
            )  # or none: something is needed that was not when it was reviewed
            asyncio.get_running_loop().call_at(self._reviewed_at + APART, self._news.set)
        return bool(suspects)

    @property
    def missing(self) -> dict[str, str]:
        """What is missing, in words, by the name of who needs it."""
        found = {
            name: [str(access) for access in accesses if self._verdict(access) is Verdict.MISSING]
            for name, _, accesses in self._affected()
        }
        return {name: f"it may not {', '.join(words)}" for name, words in found.items() if words}

    # --- its life ---

    async def run(self) -> None:
        """Review at start, what was refused, and again and again what is missing."""
        await self._review()
        self._reviewed.set()
        while True:
            await self._pause()
            await self._review()

    async def wait_until_ready(self) -> None:
        """Wait for the first review. Raises MissingRights if that is asked for."""
        await self._reviewed.wait()
        missing = [review for review in self._reviews.values() if review.verdict is Verdict.MISSING]
        if self._is_strict and missing:
            user = await self._who()
            texts = [replace(gap, is_waiting=None).text(user) for gap in self._gaps(missing)]
            raise MissingRights("the login may not do what this program needs:\n\n" + "\n\n".join(texts))

    async def _pause(self) -> None:
        """Wait for news, or until it is time to ask again."""
        is_open = any(self._is_open(access) for access in self._accesses())
        pause = PAUSES[min(self._pauses, len(PAUSES) - 1)] if is_open else None
        try:
            async with asyncio.timeout(pause):
                await self._news.wait()
        except TimeoutError:
            self._pauses += 1

    async def _review(self) -> None:
        self._news.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                for informer in self._informers():
                    await informer.wait_until_located()  # before, the name of its resource may be a guess
        self._needs = self._all_needs()
        suspects, self._suspects = self._suspects, {}
        wanted = [access for access in self._accesses() if self._is_open(access) or access in suspects]
        reviews = await review_accesses(self._client, wanted, patience=timedelta(seconds=PATIENCE))
        self._reviewed_at = asyncio.get_running_loop().time()
        for review in reviews:
            if review.verdict is not Verdict.UNKNOWN or review.access not in self._reviews:
                self._reviews[review.access] = review
        await self._tell(reviews)

    # --- what is needed, and what is known ---

    def _all_needs(self) -> list[_Need]:
        """Find out what is needed now: controllers come and go, and resources get to be known by name."""
        guessed = {i.resource[:2] for i in self._informers() if i.resource.namespaced is None}
        found = []
        for member in self._members():
            accesses = [a for a in self._resolve(member.rbac).accesses() if (a.group, a.resource) not in guessed]
            controller = member.runnable if isinstance(member.runnable, Controller) else None
            accesses += self._undeclared.get(member.name, ()) if controller is not None else ()
            if accesses or controller is not None:
                found.append(_Need(member.name, controller, accesses))
        return found

    def _accesses(self, of: Controller | None = None) -> Iterable[Access]:
        """Return what is needed, each once, by a controller or by all."""
        needs = [need for need in self._needs if of is None or need.controller is of]
        return dict.fromkeys(access for need in needs for access in need.accesses)

    def _is_open(self, access: Access) -> bool:
        """Tell whether a review may say something new without anybody having been refused."""
        review = self._reviews.get(access)
        return review is None or review.verdict is Verdict.MISSING or review.may_change

    def _verdict(self, access: Access) -> Verdict:
        review = self._reviews.get(access)
        return Verdict.UNKNOWN if review is None else review.verdict

    # --- telling ---

    async def _tell(self, reviews: Sequence[Review]) -> None:
        missing = [r for r in reviews if r.verdict is Verdict.MISSING and r.access not in self._told]
        granted = [access for access in self._told if self._verdict(access) is Verdict.ALLOWED]
        if missing:
            await self._who()
        # no await from here: what is said, what controllers know and what is asked next agree
        if self._reviewed.is_set() or not self._is_strict:
            self._tell_missing(missing)
        self._remind()
        self._tell_unknown(reviews)
        self._tell_granted(granted)
        for need in self._needs:
            if need.controller is not None:
                lacking = [access for access in need.accesses if self._verdict(access) is Verdict.MISSING]
                need.controller.rights.review(lacking)
        if missing or granted:
            self._pauses = 0

    def _tell_missing(self, missing: Iterable[Review]) -> None:
        news = [review for review in missing if review.access not in self._told]
        for gap in self._gaps(news):
            log.warning("%s", gap.text(self._user or ""), extra={"needed_by": gap.affected})
            self._reminded_at = asyncio.get_running_loop().time()
        self._told.update(dict.fromkeys(review.access for review in news))

    def _remind(self) -> None:
        """Say in one line now and then that it is still so."""
        now, missing = asyncio.get_running_loop().time(), self.missing
        if missing and now - self._reminded_at >= REMINDER:
            self._reminded_at = now
            log.warning("rights are still missing, see above how to grant them", extra=missing)

    def _tell_unknown(self, reviews: Sequence[Review]) -> None:
        unknown = [review for review in reviews if review.verdict is Verdict.UNKNOWN]
        if unknown and not self._is_mute:
            self._is_mute = True
            facts = {"rights": len(unknown), "reason": unknown[0].remark}
            level = logging.WARNING if unknown[0].may_change else logging.INFO
            log.log(level, "rights could not be reviewed; what is missing will show when it is refused", extra=facts)

    def _tell_granted(self, granted: Sequence[Access]) -> None:
        for gap in gaps([(access, "") for access in granted], self._affected()):
            log.info("rights granted: %s", gap.remedy("").what, extra={"needed_by": gap.affected})
        for access in granted:
            del self._told[access]
            for undeclared in self._undeclared.values():
                undeclared.pop(access, None)
        readable = {(access.group, access.resource) for access in granted}
        for informer in self._informers():
            if informer.resource[:2] in readable:
                informer.hasten()

    def _gaps(self, missing: Iterable[Review]) -> list[Gap]:
        classes = {n.name: type(n.controller.reconciler).__name__ for n in self._needs if n.controller is not None}
        undeclared = [(classes[name], a) for name, of in self._undeclared.items() if name in classes for a in of]
        return gaps([(review.access, review.remark) for review in missing], self._affected(), undeclared)

    def _affected(self) -> list[tuple[str, bool, Iterable[Access]]]:
        """Name who needs what; the cache needs what controllers need, and is named for what only it needs."""
        controllers = {access for need in self._needs if need.controller is not None for access in need.accesses}
        return [
            (n.name, n.is_waiting, [a for a in n.accesses if n.controller is not None or a not in controllers])
            for n in self._needs
        ]

    async def _who(self) -> str:
        """Return who is logged in, asked once."""
        self._user = self._user or await whoami(self._client)
        return self._user
