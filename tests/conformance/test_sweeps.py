"""The embedded server defaults and refuses objects as a real kube-apiserver 1.36 does."""

from __future__ import annotations

import json

import pytest

from tests.conformance._sweep import Sweep
from tests.conformance._sweep_samples import bases_of, cases_of, embedded_sender, read_sample, sampled_kinds, targets_of


@pytest.mark.parametrize("kind", sampled_kinds())
async def test_answers_match_the_sample(kind: str) -> None:
    """Each object of the sample, with one field changed, has the recorded answer."""
    recorded = read_sample(kind)
    cases, wanted = cases_of(recorded)
    sweep = Sweep(embedded_sender())
    await sweep.set_up(bases_of(recorded, targets_of(cases)))
    different = [
        f"{case.target.name} {case.verb} {case.mutation}\n  want {json.dumps(expected)}\n  got  {json.dumps(got)}"
        for case, expected, got in zip(cases, wanted, await sweep.answers(cases), strict=True)
        if expected != json.loads(json.dumps(got))
    ]
    assert different == [], "\n".join(different[:10])
