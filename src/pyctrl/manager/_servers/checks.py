"""Health checks by name, and their responses in the format of kube-apiserver."""

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

__all__ = ["Check", "CheckResult", "Checks", "HealthAnswer", "overview", "slug"]

log = logging.getLogger("pyctrl.manager")

CHECK_SECONDS = 5.0  # timeout of one check; a check that hangs must not delay the response for ever

#: A function, async or not, without arguments. It raises if the check fails.
Check: TypeAlias = Callable[[], Awaitable[object] | object]

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


class CheckResult(Struct, frozen=True):
    """The result of a check; ``problem`` is "" if it passed."""

    name: str
    problem: str = ""
    #: Whether it is only shown, and does not fail the endpoint.
    only_informs: bool = False


@dataclass(frozen=True, slots=True)
class HealthAnswer:
    """An HTTP response: status 200, 404 or 500, and text."""

    status: int
    text: str


class Checks:
    """The checks of one endpoint, such as ``/readyz``: `ping`, the manager's own, and those added by the program.

    Args:
        endpoint: the path without its slash.
        own: returns the manager's own findings by name; called once for each response.
        informing: returns findings that fail only the path of the check itself, not the endpoint.
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
            ManagerError: the name is in use, or cannot be part of a path.
        """
        if not _NAME.fullmatch(name):
            raise ManagerError(f"a check's name is part of a path: letters, digits, '-', '.' and '_'; got {name!r}")
        if name in self._added or name in self._findings():
            raise ManagerError(f"/{self.endpoint} already has a check {name!r}; use another name")
        if not callable(check):
            raise ManagerError(f"the check {name!r} must be a function without arguments, got {check!r}")
        self._added[name] = check

    async def answer(self, name: str = "", *, is_verbose: bool = False, exclude: Collection[str] = ()) -> HealthAnswer:
        """Return the response for all checks, or for the check ``name`` with its reason."""
        if name:
            return await self._answer_one(name)
        own = self._findings()
        findings = [CheckResult(check, problem) for check, problem in own.items() if check not in exclude]
        added = [check for check in self._added if check not in exclude]
        findings += await asyncio.gather(*(self._run(check) for check in added))
        self._log_changes(findings)
        informing = self._informing()
        findings += [CheckResult(check, problem, True) for check, problem in informing.items() if check not in exclude]
        known = [*own, *self._added, *informing]
        return overview(self.endpoint, known, findings, exclude, is_verbose=is_verbose)

    async def _answer_one(self, name: str) -> HealthAnswer:
        if name in self._added:
            problem = (await self._run(name)).problem
        elif (found := {**self._informing(), **self._findings()}.get(name)) is not None:
            problem = found
        else:
            return HealthAnswer(404, f"/{self.endpoint} has no check {name!r}; see /{self.endpoint}?verbose\n")
        return HealthAnswer(500, f"internal server error: {problem}\n") if problem else HealthAnswer(200, "ok")

    def _findings(self) -> Mapping[str, str]:
        return {"ping": "", **self._own()}

    async def _run(self, name: str) -> CheckResult:
        try:
            returned = self._added[name]()
            if inspect.isawaitable(returned):
                async with asyncio.timeout(CHECK_SECONDS):
                    await returned
        except TimeoutError as error:
            return CheckResult(name, str(error) or f"it took longer than {CHECK_SECONDS:g} s")
        except Exception as error:  # noqa: BLE001 - a check fails by raising any exception
            return CheckResult(name, str(error) or type(error).__name__)
        return CheckResult(name)

    def _log_changes(self, findings: Sequence[CheckResult]) -> None:
        """Log the failing checks when they have changed, not for each probe."""
        problems = {finding.name: finding.problem for finding in findings if finding.problem}
        if self._failing == problems.keys():
            return
        self._failing = frozenset(problems)
        if problems:
            log.info("%s check failed", self.endpoint, extra={"statuses": problems})
        else:
            log.info("%s check passed again", self.endpoint)


def overview(
    endpoint: str, known: Sequence[str], findings: Sequence[CheckResult], exclude: Collection[str], *, is_verbose: bool
) -> HealthAnswer:
    """Return kube-apiserver's response: the list of all checks if one fails or if verbose, else "ok".

    Reasons are withheld, since probes are not authenticated; the log and the path of the single check have them.
    """
    found = {finding.name: finding for finding in findings}
    lines = [_line(name, found.get(name)) for name in known]
    if unknown := [name for name in exclude if name not in known]:
        quoted = ", ".join(f'"{name}"' for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {quoted}")
    if any(finding.problem and not finding.only_informs for finding in findings):
        return HealthAnswer(500, "\n".join([*lines, f"{endpoint} check failed"]) + "\n")
    return HealthAnswer(200, "\n".join([*lines, f"{endpoint} check passed"]) + "\n" if is_verbose else "ok")


def _line(name: str, finding: CheckResult | None) -> str:
    if finding is None:
        return f"[+]{name} excluded: ok"
    if not finding.problem:
        return f"[+]{name} ok"
    return f"[-]{name} not ready: only informs" if finding.only_informs else f"[-]{name} failed: reason withheld"


def slug(name: str) -> str:
    """Return a name with all characters replaced that cannot be part of a path."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "unnamed"
