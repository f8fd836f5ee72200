"""pytest plugin that collects a session's accesses, writes them to a file and compares them with the declared ones.

It is registered only with ``--rbac-record`` or ``--rbac-check``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyctrl.errors import PyctrlError

if TYPE_CHECKING:
    from pyctrl.rbac import Grants, PermissionComparison, RecordedAccess

__all__ = ["keep"]

RECORDED: pytest.StashKey[list[RecordedAccess]] = pytest.StashKey()
REPORTED: pytest.StashKey[list[str]] = pytest.StashKey()

SENT = "pyctrl_accesses"
NOTHING = (
    "no access of an operator was recorded: pass operators `operator_config` instead of `cluster.config`, or run them "
    "with the fixture `under_role`"
)


def keep(config: pytest.Config, asked: Iterable[RecordedAccess]) -> None:
    """Keep accesses until the end of the session."""
    config.stash.setdefault(RECORDED, []).extend(asked)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Fail early if the files and the program of the options cannot be read."""
    option = session.config.option
    try:
        if option.rbac_record:
            _read(Path(option.rbac_record))
        if option.rbac_check:
            _derived(option.rbac_check)
    except (PyctrlError, OSError) as error:
        raise pytest.UsageError(str(error)) from error


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the recorded accesses, and compare them with the declared ones."""
    config, option = session.config, session.config.option
    asked = config.stash.get(RECORDED, [])
    if (output := getattr(config, "workeroutput", None)) is not None:  # a worker of pytest-xdist does not report
        output[SENT] = _text(asked)
        return
    if option.rbac_record:
        file = Path(option.rbac_record)
        file.write_text(_text([*_read(file), *asked]))
    if not option.rbac_check:
        return
    found = _compare(option.rbac_check, asked)
    config.stash[REPORTED] = found.lines() if asked else [NOTHING]
    is_failure = not asked or found.missing or (option.rbac_strict and found.lines())
    if is_failure and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Keep the accesses that a worker of pytest-xdist has sent; a crashed worker has sent none."""
    from pyctrl.rbac import read_recording

    text = getattr(node, "workeroutput", {}).get(SENT)
    keep(node.config, read_recording(text, "a worker") if text else [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Report each missing permission, and each that is declared and unused."""
    lines = config.stash.get(REPORTED, None)
    if lines is None:
        return
    terminalreporter.section(f"rights of {config.option.rbac_check}")
    for line in lines or ["nothing is missing, and nothing is unused"]:
        terminalreporter.write_line(line, red=line.startswith(("missing", NOTHING)))


def _read(file: Path) -> list[RecordedAccess]:
    from pyctrl.rbac import read_recording  # here and below: needed only by sessions with these options

    return read_recording(file.read_text(), str(file)) if file.exists() else []


def _text(asked: Sequence[RecordedAccess]) -> str:
    from pyctrl.rbac import write_recording

    return write_recording(asked)


def _compare(target: str, asked: Sequence[RecordedAccess]) -> PermissionComparison:
    from pyctrl.rbac import compare, read_recording

    # Converted to the file format and back, which drops the namespaces that the tests happened to use.
    return compare(_derived(target), read_recording(_text(asked), "this session"))


def _derived(target: str) -> Grants:
    from pyctrl.program import offline_manager

    async def derive() -> Grants:
        async with offline_manager(target) as manager:
            return manager.grants()

    return asyncio.run(derive())
