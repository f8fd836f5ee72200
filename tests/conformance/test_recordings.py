"""The embedded server answers as a real kube-apiserver 1.36 did, step by step of every recording.

`DIFFERENT` lists the steps that do not match, each with what they wait for; every other step of every recording must
match, code and body. A step leaves the list when it matches, and never comes back.
"""

from __future__ import annotations

from random import Random

import pytest

from pyctrl.apiserver import ApiServer, User
from tests.conformance._recording import Case, cases, comparable, differences
from tests.conformance._replay import Replay

USERS = {
    "admin-token": User(name="admin", uid="admin", groups=("system:masters", "system:authenticated")),
    "plain-token": User(name="plain", uid="plain", groups=("", "system:authenticated")),
}

CONTROLLERS = {  # these wait for what a cluster's controllers do; none run here
    "deployment-rollout": {"pods", "s2"},
    "namespace-lifecycle": {"s2", "s7"},
    "owner-gc": {"s4", "s8", "s9", "s13", "s14", "s16"},
    "patch-types": {"s13", "s14", "s15", "s16"},
    "scale": {"g", "s3", "s5", "s8", "s9", "s10", "s11", "s12"},
    "status-subresource": {"s3", "s4"},
}
DIFFERENT: dict[str, set[str]] = {
    **CONTROLLERS,
    # everybody may do everything, so that more objects are there, under other numbers
    "auth": {*(f"s{number}" for number in range(1, 20) if number != 2), "whoami", "s22"},
    "crd-cel": {f"s{number}" for number in range(1, 15)},  # validation rules in CEL are refused
    "crd-invalid": {"s10"},  # the message is the CEL compiler's
    "events": {"s4", "s5", "s6", "s7", "s8"},  # the two groups of events do not share their objects
    "service-accounts": {"s4", "s5"},  # authorization again
}


@pytest.mark.virtual_time
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
async def test_answers_match_the_recording(case: Case) -> None:
    """Every step that is not known to differ is answered with the recorded code and body."""
    replay = Replay(ApiServer(random=Random(case.name), tokens=USERS), case)
    await replay.run()

    wanted = comparable(case, replay.steps, [step["response"] for step in replay.steps])
    got = comparable(case, replay.steps, replay.observed)
    told = {
        step["id"]: list(differences(want, found))
        for step, want, found in zip(replay.steps, wanted, got, strict=True)
        if want != found
    }
    assert not {step: lines for step, lines in told.items() if step not in DIFFERENT.get(case.name, set())}
