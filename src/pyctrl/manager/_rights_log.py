"""What a manager says about rights: each thing that is missing once, and once more when it is there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping

from pyctrl._log import Lines
from pyctrl.api import Access
from pyctrl.manager._needs import Needs
from pyctrl.manager._reviews import Review, Verdict

__all__ = ["RightsLog"]

log = logging.getLogger("pyctrl.manager")

REMINDER = 300.0  # seconds; whoever looks at the end of a log sees why nothing happens


class RightsLog:
    """Says what is missing, granted or unknown, and remembers what it has said."""

    def __init__(self, needs: Needs) -> None:
        self._needs = needs
        self._told: dict[Access, None] = {}
        self._is_mute = False
        self._reminded_at = 0.0
        #: Who is logged in, as the server says; "" before anybody knows.
        self.user = ""

    @property
    def told(self) -> Collection[Access]:
        """What was said to be missing."""
        return self._told.keys()

    def missing(self, missing: Iterable[Review]) -> None:
        """Say what is missing and how to grant it, unless that was said."""
        news = [review for review in missing if review.access not in self._told]
        for gap in self._needs.gaps(news):
            log.warning("%s", Lines(gap.text(self.user)), extra={"needed_by": gap.affected})
            self._reminded_at = asyncio.get_running_loop().time()
        self._told.update(dict.fromkeys(review.access for review in news))

    def granted(self, granted: Iterable[Review]) -> None:
        """Say what is no longer missing."""
        reviews = list(granted)
        for gap in self._needs.gaps(reviews):
            log.info("rights granted: %s", gap.remedy(self.user).what, extra={"needed_by": gap.affected})
        for review in reviews:
            self._told.pop(review.access, None)

    def unknown(self, reviews: Iterable[Review]) -> None:
        """Say that rights could not be reviewed, once."""
        unknown = [review for review in reviews if review.verdict is Verdict.UNKNOWN]
        if unknown and not self._is_mute:
            self._is_mute = True
            facts = {"rights": len(unknown), "reason": unknown[0].remark}
            level = logging.WARNING if unknown[0].may_change else logging.INFO
            log.log(level, "rights could not be reviewed; what is missing will show when it is refused", extra=facts)

    def remind(self, missing: Mapping[str, str]) -> None:
        """Say in one line, now and then, that rights are still missing: by name, what."""
        now = asyncio.get_running_loop().time()
        if missing and now - self._reminded_at >= REMINDER:
            self._reminded_at = now
            log.warning("rights are still missing, see above how to grant them", extra={"missing": dict(missing)})
