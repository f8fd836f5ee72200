"""Named checks, and the text in which Kubernetes answers for them. It decides what to answer, and serves nothing."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from msgspec import Struct

from pyctrl.errors import ManagerError

__all__ = ["Check", "Checks", "Finding", "HealthAnswer", "overview", "slug"]

log = logging.getLogger("pyctrl.manager")

CHECK_SECONDS = 5.0  # for one check; one that hangs must not keep the others from being told

#: A function, async or not, without arguments. It returns when all is well, and raises when it is not.
Check: TypeAlias = Callable[[], Awaitable[object] | object]

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


class Finding(Struct, frozen=True):
    """What a check found: ``problem`` is "" when all is well."""

    name: str
    problem: str = ""
    #: It is shown, and lets nothing fail.
    only_informs: bool = False


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """An answer of HTTP: 200, 404 or 500, and its text."""

    status: int
    text: str


class Checks:
    """The checks behind one path, such as ``/readyz``: `ping`, those of the manager, and those of its user.

    Args:
        endpoint: the path without its slash.
        own: what the manager finds, by name; asked once for each answer.
        informing: what it finds that lets nothing fail but the path of the check itself.
    """

    def __init__(
        self,
        endpoint: str,
        own: Callable[[], Mapping[str, str]],
        informing: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self.endpoint = endpoint
        self._own, self._informing = own, informing
        self._added: dict[str, Check] = {}
        self._failing: frozenset[str] = frozenset()

    def add(self, name: str, check: Check) -> None:
        """Add a check.

        Raises:
            ManagerError: the name is taken, or is none that can stand in a path.
        """
        if not _NAME.fullmatch(name):
            raise ManagerError(f"a check's name is part of a path: letters, digits, '-', '.' and '_'; got {name!r}")
        if name in self._added or name in self._findings():
            raise ManagerError(f"/{self.endpoint} has a check {name!r} already; give this one another name")
        if not callable(check):
            raise ManagerError(f"the check {name!r} is a function without arguments that raises, got {check!r}")
        self._added[name] = check

    async def answer(self, name: str = "", *, is_verbose: bool = False, exclude: Collection[str] = ()) -> HealthAnswer:
        """Answer for all checks, or with ``name`` for that one, and then with its reason."""
        if name:
            return await self._answer_one(name)
        own = self._findings()
        findings = [Finding(check, problem) for check, problem in own.items() if check not in exclude]
        asked = [check for check in self._added if check not in exclude]
        findings += await asyncio.gather(*(self._ask(check) for check in asked))
        self._tell(findings)
        informing = self._informing()
        findings += [Finding(check, problem, True) for check, problem in informing.items() if check not in exclude]
        known = [*own, *self._added, *informing]
        return overview(self.endpoint, known, findings, exclude, is_verbose=is_verbose)

    async def _answer_one(self, name: str) -> HealthAnswer:
        if name in self._added:
            problem = (await self._ask(name)).problem
        elif (found := {**self._informing(), **self._findings()}.get(name)) is not None:
            problem = found
        else:
            return HealthAnswer(404, f"/{self.endpoint} has no check {name!r}; see /{self.endpoint}?verbose\n")
        return HealthAnswer(500, f"internal server error: {problem}\n") if problem else HealthAnswer(200, "ok")

    def _findings(self) -> Mapping[str, str]:
        return {"ping": "", **self._own()}

    async def _ask(self, name: str) -> Finding:
        try:
            returned = self._added[name]()
            if inspect.isawaitable(returned):
                async with asyncio.timeout(CHECK_SECONDS):
                    await returned
        except TimeoutError as error:
            return Finding(name, str(error) or f"it took longer than {CHECK_SECONDS:g} s")
        except Exception as error:  # noqa: BLE001 - whatever a check raises says that something is not well
            return Finding(name, str(error) or type(error).__name__)
        return Finding(name)

    def _tell(self, findings: Sequence[Finding]) -> None:
        """Log what fails when that has changed: a probe that fails every ten seconds says nothing new."""
        problems = {finding.name: finding.problem for finding in findings if finding.problem}
        if self._failing == problems.keys():
            return
        self._failing = frozenset(problems)
        if problems:
            log.info("%s check failed", self.endpoint, extra={"statuses": problems})
        else:
            log.info("%s check passed again", self.endpoint)


def overview(
    endpoint: str, known: Sequence[str], findings: Sequence[Finding], exclude: Collection[str], *, is_verbose: bool
) -> HealthAnswer:
    """Write what kube-apiserver writes about its checks: all of them when one fails, or when asked for.

    Reasons are withheld, since everybody may ask; the log has them, and so has the path of the one check.
    """
    found = {finding.name: finding for finding in findings}
    lines = [_line(name, found.get(name)) for name in known]
    if strangers := [name for name in exclude if name not in known]:
        quoted = ", ".join(f'"{name}"' for name in strangers)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {quoted}")
    if any(finding.problem and not finding.only_informs for finding in findings):
        return HealthAnswer(500, "\n".join([*lines, f"{endpoint} check failed"]) + "\n")
    return HealthAnswer(200, "\n".join([*lines, f"{endpoint} check passed"]) + "\n" if is_verbose else "ok")


def _line(name: str, finding: Finding | None) -> str:
    if finding is None:
        return f"[+]{name} excluded: ok"
    if not finding.problem:
        return f"[+]{name} ok"
    return f"[-]{name} not ready: only informs" if finding.only_informs else f"[-]{name} failed: reason withheld"


def slug(name: str) -> str:
    """Return a name as it can stand in a path."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "unnamed"
