"""The embedded server answers as a real kube-apiserver 1.36 did, step by step of every recording.

The cluster's controllers run if they ran with the recorded server. `DIFFERENT` lists the steps that do not match,
each with the reason. Every other step must match in code and body, and a listed step that matches must be removed.
"""

from __future__ import annotations

from contextlib import nullcontext
from random import Random
from typing import cast

import pytest

from pyctrl.apiserver import ApiServer, FeatureGate, User
from pyctrl.cluster import Cluster
from tests.conformance._recording import Case, cases, comparable, differences, setup_failures
from tests.conformance._replay import Replay

USERS = {
    "admin-token": User(name="admin", uid="admin", groups=("system:masters", "system:authenticated")),
    "plain-token": User(name="plain", uid="plain", groups=("", "system:authenticated")),
}

DIFFERENT: dict[str, set[str]] = {}


@pytest.mark.virtual_time
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
async def test_answers_match_the_recording(case: Case) -> None:
    """Every step not listed in DIFFERENT has the recorded code and body."""
    gates = cast("dict[FeatureGate, bool]", dict.fromkeys(case.features, True))
    server = ApiServer(random=Random(case.name), tokens=USERS, feature_gates=gates)
    cluster = Cluster(server=server, token="admin-token", kubelet=False, random=Random(1))
    async with cluster if case.has_controllers else nullcontext():
        replay = Replay(server, case)
        await replay.run()

    assert list(setup_failures(replay.steps, [step["response"] for step in replay.steps])) == []
    assert list(setup_failures(replay.steps, replay.observed)) == []
    wanted = comparable(case, replay.steps, [step["response"] for step in replay.steps])
    got = comparable(case, replay.steps, replay.observed)
    told = {
        step["id"]: list(differences(want, found))
        for step, want, found in zip(replay.steps, wanted, got, strict=True)
        if want != found
    }
    assert {step: lines for step, lines in told.items() if step not in DIFFERENT.get(case.name, set())} == {}
    assert DIFFERENT.get(case.name, set()) <= told.keys()


def test_a_case_whose_set_up_failed_is_found() -> None:
    """A create that fails before its object is used is a failed setup, unless marked or repeated."""
    make = {"id": "make", "request": {"method": "POST", "path": "/things", "body": {"metadata": {"name": "a"}}}}
    use = {"id": "use", "request": {"method": "PATCH", "path": "/things/a/status"}}
    refused, missing, made = {"code": 422}, {"code": 404}, {"code": 201}

    failed = ["use uses /things/a, whose create make was refused"]
    assert list(setup_failures([make, use], [refused, missing])) == failed
    assert list(setup_failures([{**make, "refused": True}, use], [refused, missing])) == []
    assert list(setup_failures([make, make, use], [refused, made, missing])) == []
    assert list(setup_failures([make, use], [made, missing])) == []


def test_a_condition_that_never_held_is_a_failed_set_up() -> None:
    """A recorded wait must have succeeded, and a recorded request must have been sent."""
    wait = {"id": "wait", "eventually": {"path": "/things/a", "until": {"code": 200}}}
    ask = {"id": "ask", "request": {"path": "/things/${wait:/metadata/name}"}}

    found = list(setup_failures([wait, ask], [{"code": 404}, {"code": 0, "text": "KeyError: 'body'"}]))
    assert found == ["wait waited for a condition that never held", "ask was not sent: KeyError: 'body'"]
