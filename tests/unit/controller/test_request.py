"""Requests and results of reconcilers."""

from __future__ import annotations

from datetime import timedelta

from pyctrl.api import Key, ObjectMeta
from pyctrl.controller import Request, Result
from pyctrl.kinds.core.v1 import ConfigMap


def test_a_request_names_one_object() -> None:
    """Two requests for one object are equal."""
    request = Request.of(ConfigMap(metadata=ObjectMeta(name="a", namespace="web")))
    assert request == Request("web", "a")
    assert request.key == Key("web", "a")
    assert len({request, Request("web", "a"), Request("web", "a", "mars")}) == 2


def test_a_request_is_logged_with_its_cluster() -> None:
    """The text of a request has the cluster, unless it is the home cluster, and the namespace, if there is one."""
    assert str(Request("web", "a")) == "web/a"
    assert str(Request("web", "a", "mars")) == "mars:web/a"
    assert str(Request("", "a")) == "a"


def test_results_say_when_to_run_again() -> None:
    """`done` waits for the next change, `after` for the delay at most."""
    assert Result.done() == Result()
    assert Result.done().requeue_after is None
    assert Result.after(timedelta(minutes=5), priority=-10) == Result(requeue_after=timedelta(minutes=5), priority=-10)
