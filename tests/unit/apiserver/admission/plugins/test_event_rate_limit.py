"""The admission plugin EventRateLimit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from pyctrl import _clock
from pyctrl.apiserver import AdmissionConfiguration, ApiServer
from pyctrl.apiserver._admission._plugins.event_rate_limit import EventLimit
from tests.unit.apiserver._kit import Asker

START = datetime(2026, 1, 1, tzinfo=UTC)


def asking(*limits: EventLimit) -> Asker:
    """Return a client of a server with these limits."""
    configuration = AdmissionConfiguration(event_limits=limits)
    server = ApiServer(
        random=Random(7), enable_admission_plugins=["EventRateLimit"], admission_configuration=configuration
    )
    return Asker(server)


def write(ask: Asker, name: str, *, namespace: str = "default", obj: str = "p", query: str = "") -> tuple[int, str]:
    """Create an Event; return the code and the message of an error."""
    involved = {"kind": "Pod", "namespace": namespace, "name": obj}
    body: dict[str, Any] = {"metadata": {"name": name}, "involvedObject": involved, "source": {"component": "c"}}
    path = f"/api/v1/namespaces/{namespace}/events"
    code, answer = ask("POST", path, body, dryRun=query) if query else ask("POST", path, body)
    return code, answer.get("message", "") if code >= 400 else ""


def test_a_burst_is_followed_by_the_rate() -> None:
    """Dry runs do not count, and other kinds have no limit."""
    ask = asking(EventLimit(type="Server", qps=1, burst=2))
    now = START
    with _clock.use(lambda: now):
        assert write(ask, "z", query="All")[0] == 201
        assert [write(ask, name)[0] for name in ("a", "b", "c")] == [201, 201, 429]
        assert write(ask, "c") == (429, "Too many requests: limit reached on type Server for key ")
        assert ask.make("free")
        now += timedelta(seconds=1)
        assert [write(ask, name)[0] for name in ("c", "d")] == [201, 429]


def test_each_key_has_its_own_limit() -> None:
    """By namespace and by source and object; the errors of all limits are reported."""
    ask = asking(
        EventLimit(type="Namespace", qps=1, burst=2), EventLimit(type="SourceAndObject", qps=1, burst=1, cache_size=1)
    )
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
    with _clock.use(lambda: START):
        assert write(ask, "a")[0] == write(ask, "a", namespace="n")[0] == 201
        assert write(ask, "b", namespace="n", obj="q")[0] == 201
        code, message = write(ask, "c", namespace="n", obj="q")
    of_object = "limit reached on type SourceAndObject for key cPodnq"
    expected = f"Too many requests: [limit reached on type Namespace for key n, {of_object}]"
    assert (code, message) == (429, expected)


def test_the_oldest_keys_are_forgotten() -> None:
    """A limit remembers as many keys as its cache has room for."""
    ask = asking(EventLimit(type="SourceAndObject", qps=1, burst=1, cache_size=1))
    with _clock.use(lambda: START):
        assert [write(ask, f"{i}", obj=obj)[0] for i, obj in enumerate("ppqp")] == [201, 429, 201, 201]
