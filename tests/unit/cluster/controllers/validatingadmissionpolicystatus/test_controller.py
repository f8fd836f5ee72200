"""The status of ValidatingAdmissionPolicies."""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.kinds.admissionregistration.v1 import ValidatingAdmissionPolicy

POLICY = Key("", "replicas")


def _policy(expression: str) -> dict[str, Any]:
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"], "operations": ["CREATE"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "replicas"},
        "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": expression}]},
    }


async def _status(client: Client, generation: int) -> dict[str, Any]:
    def is_observed(policy: ValidatingAdmissionPolicy) -> bool:
        return policy.status.observed_generation == generation

    found = await wait_for(client, ValidatingAdmissionPolicy, POLICY, is_observed)
    status: dict[str, Any] = found.to_wire()["status"]
    return status


async def test_a_policy_with_a_type_error_has_a_warning(client: Client) -> None:
    """An expression that does not fit the schema of the matched kind is named in the status."""
    await client.create(ValidatingAdmissionPolicy.from_wire(_policy("object.spec.replicas > '5'")))
    (warning,) = (await _status(client, 1))["typeChecking"]["expressionWarnings"]
    assert warning == {
        "fieldRef": "spec.validations[0].expression",
        "warning": "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to "
        "'(int, string)'\n | object.spec.replicas > '5'\n | .....................^\n",
    }


async def test_a_policy_without_errors_is_marked_as_checked(client: Client) -> None:
    """A policy whose expressions fit has an empty result, which says that it has been checked."""
    await client.create(ValidatingAdmissionPolicy.from_wire(_policy("object.spec.replicas > 5")))
    assert await _status(client, 1) == {"observedGeneration": 1, "typeChecking": {}}


async def test_each_generation_is_checked(client: Client) -> None:
    """A warning goes when the expression is mended, and the status belongs to the controller."""
    policy = await client.create(ValidatingAdmissionPolicy.from_wire(_policy("object.spec.nope == 1")))
    assert (await _status(client, 1))["typeChecking"]["expressionWarnings"]
    await client.apply(_policy("object.spec.replicas == 1"), field_owner="test", force=True)
    assert (await _status(client, 2))["typeChecking"] == {}
    found = await client.get(ValidatingAdmissionPolicy, policy.key)
    owners = {(each["manager"], each.get("subresource")) for each in found.metadata.managed_fields}
    assert ("validatingadmissionpolicy-status", "status") in owners


async def test_a_change_of_metadata_is_not_checked_again(client: Client) -> None:
    """The warnings, which name types by the time of the check, stay while the expressions do not change."""
    policy = await client.create(ValidatingAdmissionPolicy.from_wire(_policy("object.spec == 1")))
    before = await _status(client, 1)
    await asyncio.sleep(1.25)
    await client.patch(ValidatingAdmissionPolicy, policy.key, MergePatch({"metadata": {"labels": {"a": "b"}}}))
    await asyncio.sleep(1.25)
    assert await _status(client, 1) == before
