"""Labels of namespaces and the policies that they set."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._admission._plugins.pod_security_policy import (
    LATEST,
    PREFIX,
    PRIVILEGED,
    LevelVersion,
    Policy,
    policy_to_evaluate,
)


def _policy(**labels: str) -> tuple[Policy, list[str]]:
    named = {f"{PREFIX}{mode.replace('_', '-')}": value for mode, value in labels.items()}
    policy, errors = policy_to_evaluate(named, Policy())
    return policy, [error.field for error in errors]


def test_a_namespace_without_labels_allows_everything() -> None:
    """The default is privileged in all modes."""
    policy, errors = _policy()
    assert policy.is_privileged
    assert not errors


def test_warnings_follow_a_stricter_enforced_level() -> None:
    """Without a label of its own, warn has the level and version of enforce."""
    policy, _ = _policy(enforce="restricted", enforce_version="v1.20")
    assert policy.warn == LevelVersion("restricted", 20)
    assert str(policy.warn) == "restricted:v1.20"
    assert policy.audit == PRIVILEGED
    assert _policy(enforce="baseline", warn_version="latest")[0].warn == LevelVersion("baseline", LATEST)
    assert _policy(enforce="baseline", warn="privileged")[0].warn == PRIVILEGED


@pytest.mark.parametrize(
    ("labels", "policy", "fields"),
    [
        ({"enforce": "x"}, Policy(enforce=LevelVersion("restricted", LATEST)), ["enforce"]),
        ({"audit": "x", "warn": "y"}, Policy(), ["audit", "warn"]),
        ({"enforce_version": "v2.1"}, Policy(), ["enforce-version"]),
        ({"warn_version": "v1.01"}, Policy(), ["warn-version"]),
    ],
)
def test_invalid_labels_deny_and_do_not_warn(labels: dict[str, str], policy: Policy, fields: list[str]) -> None:
    """An invalid level is restricted for enforce and privileged for the other modes."""
    assert _policy(**labels) == (policy, [f"metadata.labels[{PREFIX}{field}]" for field in fields])
