"""What is logged when events cannot be written: the start and the end of a failure, and the remedy."""

from __future__ import annotations

import logging

import pytest

from pyctrl.client._events.failure_log import WriteFailureLog
from pyctrl.errors import ConnectionFailed, Forbidden, Invalid, NotFound

DENIED = (
    'events.events.k8s.io is forbidden: User "jane" cannot create resource "events" '
    'in API group "events.k8s.io" in the namespace "default"'
)


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Return the level and the message of each logged line."""
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def test_an_outage_is_logged_at_its_start_and_at_its_end(caplog: pytest.LogCaptureFixture) -> None:
    """Two failures in a row have one warning, and the first accepted event after them has one line."""
    caplog.set_level(logging.DEBUG, "pyctrl.events")
    log = WriteFailureLog()
    for _ in range(2):
        log.away(ConnectionFailed("no route"))
    for _ in range(2):
        log.accepted("create", "default", waiting=3)
    assert lines(caplog) == [("WARNING", "Server unavailable, keeping events"), ("INFO", "Resumed writing events")]


def test_a_missing_permission_is_logged_once_until_it_is_granted(caplog: pytest.LogCaptureFixture) -> None:
    """A forbidden verb is logged once with the commands that grant it, and again only after an accepted event."""
    caplog.set_level(logging.DEBUG, "pyctrl.events")
    log = WriteFailureLog()
    for _ in range(2):
        log.refused("create", "default", "shop.1", Forbidden(DENIED))
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert "jane" in vars(record)["commands"]
    log.accepted("create", "default", waiting=0)
    log.refused("create", "default", "shop.1", Forbidden(DENIED))
    assert len(caplog.records) == 2


def test_the_end_of_a_namespace_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    """Events of a deleted or terminating namespace are mentioned at debug level, and other rejections as errors."""
    caplog.set_level(logging.DEBUG, "pyctrl.events")
    log = WriteFailureLog()
    ending = Forbidden("is being terminated", status={"details": {"causes": [{"reason": "NamespaceTerminating"}]}})
    for error in (NotFound("no namespace"), ending, Invalid("no reason")):
        log.refused("create", "default", "shop.1", error)
    assert [level for level, _ in lines(caplog)] == ["DEBUG", "DEBUG", "ERROR"]
