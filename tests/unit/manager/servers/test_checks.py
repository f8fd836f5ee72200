"""The text of health endpoints, without a server and without a manager."""

from __future__ import annotations

import asyncio
import logging

import pytest

from pyctrl.errors import ManagerError
from pyctrl.manager import Checks


def fails() -> None:
    raise ValueError("the queue is full")


async def well() -> None:
    await asyncio.sleep(1)


def checks(**own: str) -> Checks:
    return Checks("readyz", lambda: own)


async def test_all_is_well_in_one_word() -> None:
    """Without `verbose` the response is `ok`, also without added checks."""
    made = checks()
    made.add("slow", well)

    assert ((await made.answer()).status, (await made.answer()).text) == (200, "ok")


async def test_each_check_is_told_of_when_asked_for() -> None:
    """`verbose` lists the checks in kube-apiserver's format."""
    made = checks(caches="")
    made.add("slow", well)

    found = await made.answer(is_verbose=True)

    assert found.text == "[+]ping ok\n[+]caches ok\n[+]slow ok\nreadyz check passed\n"


async def test_a_failure_is_named_and_its_reason_withheld() -> None:
    """The list of checks, which is public, hides reasons; the path of a check and the log have the reason."""
    made = checks(caches="")
    made.add("queue", fails)

    found = await made.answer()

    assert found.status == 500
    assert found.text == "[+]ping ok\n[+]caches ok\n[-]queue failed: reason withheld\nreadyz check failed\n"
    assert (await made.answer("queue")).text == "internal server error: the queue is full\n"


async def test_what_is_excluded_is_not_asked() -> None:
    """An excluded check neither runs nor counts; an unknown excluded name logs a warning."""
    made = checks(caches="not synced")
    made.add("queue", fails)

    found = await made.answer(is_verbose=True, exclude=["queue", "caches", "que"])

    assert found.status == 200
    assert found.text.splitlines() == [
        "[+]ping ok",
        "[+]caches excluded: ok",
        "[+]queue excluded: ok",
        'warn: some health checks cannot be excluded: no matches for "que"',
        "readyz check passed",
    ]


async def test_one_check_has_a_path_of_its_own() -> None:
    """The path of a check returns that check only; an unknown check is 404."""
    made = checks(caches="not synced")
    made.add("slow", well)

    assert (await made.answer("slow")).status == 200
    assert (await made.answer("ping")).status == 200
    assert (await made.answer("caches")).status == 500
    assert (await made.answer("cache")).status == 404


async def test_a_check_that_hangs_counts_as_failed() -> None:
    """A check that hangs fails after five seconds; the response names it and reports the others."""
    made = checks()
    made.add("slow", well)
    made.add("hangs", asyncio.Event().wait)

    found = await made.answer()

    assert asyncio.get_running_loop().time() == 5
    assert found.text == "[+]ping ok\n[+]slow ok\n[-]hangs failed: reason withheld\nreadyz check failed\n"
    assert "longer than 5 s" in (await made.answer("hangs")).text


async def test_what_fails_is_logged_when_that_changes(caplog: pytest.LogCaptureFixture) -> None:
    """A failing check is logged when its result changes, not for each probe."""
    problems = {"caches": "not synced"}
    made = Checks("readyz", lambda: problems)
    with caplog.at_level(logging.INFO, "pyctrl.manager"):
        for problem in ("not synced", "not synced", "", ""):
            problems["caches"] = problem
            await made.answer()

    assert [record.message for record in caplog.records] == ["readyz check failed", "readyz check passed again"]


@pytest.mark.parametrize(("name", "why"), [("ping", "already"), ("a/b", "part of a path"), ("", "part of a path")])
def test_names_of_checks_are_unique_and_fit_a_path(name: str, why: str) -> None:
    """A duplicate name, or one that does not fit a path, is refused at once."""
    with pytest.raises(ManagerError, match=why):
        checks().add(name, fails)
