"""Installation of CRDs over existing ones, and changes that are refused because data would be lost."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pyctrl import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.errors import CommandFailed
from pyctrl.manifests import definition
from pyctrl.program import definitions, install_definitions, plan_installation
from pyctrl.program._crd_installation import DEFINITION
from pyctrl.webhook import conversion_stanza
from tests.unit.program._jobs import (
    SERVICE,
    Job,
    JobV2,
    add_jobs,
)

NAME = "jobs.installing.pyctrl.test"


def both(**changes: Any) -> dict[str, Any]:
    """The CRD with both versions, as a server stores it."""
    made = definition(Job, JobV2, stored=JobV2, conversion=conversion_stanza(SERVICE))
    made["metadata"]["resourceVersion"] = "7"
    return made | {"status": {"storedVersions": ["v2"]}} | changes


def without(obj: dict[str, Any], member: str) -> dict[str, Any]:
    return {**obj, "spec": {name: value for name, value in obj["spec"].items() if name != member}}


def test_what_is_new_is_applied_as_it_is() -> None:
    """A new CRD is applied unchanged."""
    planned = plan_installation(None, definition(Job))
    assert (planned.definition, planned.losses) == (definition(Job), ())


def test_what_is_there_is_applied_with_its_resource_version() -> None:
    """An update has the resourceVersion that was read, so that a concurrent write is a conflict."""
    planned = plan_installation(both(), definition(Job, JobV2, stored=JobV2, conversion=conversion_stanza(SERVICE)))
    assert planned.losses == ()
    assert planned.definition["metadata"]["resourceVersion"] == "7"


@pytest.mark.parametrize(
    ("there", "loss"),
    [
        (both(), "version v2, in which objects are stored; migrate them"),
        (both(status={"storedVersions": ["v1", "v2"]}), "version v2, in which objects are stored"),
        (both(status={}), "version v2, in which objects are stored"),
    ],
)
def test_a_version_that_is_served_or_stored_is_a_loss(there: dict[str, Any], loss: str) -> None:
    """Removing a storage version is refused, also a former one that status.storedVersions lists."""
    (told,) = plan_installation(there, definition(Job)).losses
    assert told.startswith(loss)


def test_a_version_that_nobody_uses_may_go() -> None:
    """A version that is neither served nor stored can be removed."""
    there = both()
    versions = [version | {"served": version["name"] != "v1"} for version in there["spec"]["versions"]]
    there["spec"] = {**there["spec"], "versions": versions}
    assert plan_installation(there, definition(JobV2)).losses == ()


def test_a_version_that_is_no_longer_served_is_a_loss() -> None:
    """A listed version that is no longer served is a loss for its clients."""
    wanted = both()
    versions = [version | {"served": version["name"] != "v1"} for version in wanted["spec"]["versions"]]
    wanted["spec"] = {**wanted["spec"], "versions": versions}
    (told,) = plan_installation(both(), wanted).losses
    assert told == "version v1 would not be served any more; its clients would fail"


@pytest.mark.parametrize("wanted", [definition(Job, JobV2, stored=JobV2), both()])
def test_a_conversion_that_is_there_stays(wanted: dict[str, Any]) -> None:
    """A definition without a conversion, or without a webhook address, keeps the installed address."""
    if "conversion" in wanted["spec"]:
        wanted["spec"] = {**wanted["spec"], "conversion": {"strategy": "Webhook"}}
    planned = plan_installation(both(), wanted)
    assert planned.losses == ()
    assert planned.definition["spec"]["conversion"] == both()["spec"]["conversion"]


def test_no_conversion_instead_of_one_is_a_loss() -> None:
    """A change to strategy None is refused, because the server would drop fields of one version."""
    wanted = both()
    wanted["spec"] = {**wanted["spec"], "conversion": {"strategy": "None"}}
    (told,) = plan_installation(both(), wanted).losses
    assert told.startswith("the conversion of its versions by a webhook; fields that only one version has")


@pytest.mark.parametrize("there", [None, without(both(), "conversion")])
def test_versions_to_be_converted_need_an_address(there: dict[str, Any] | None) -> None:
    """A conversion webhook without a known address is a loss: the server would convert by dropping fields."""
    wanted = both()
    wanted["spec"] = {**wanted["spec"], "conversion": {"strategy": "Webhook"}}
    (told,) = plan_installation(there, wanted).losses
    assert "the address of the program's webhook is unknown" in told


def test_a_version_that_is_only_served_is_a_loss() -> None:
    """Removing a served version is refused, also if no object is stored in it."""
    (told,) = plan_installation(both(), definition(JobV2)).losses
    assert told == "version v1, which is served; its clients would fail"


@pytest.mark.parametrize("spec", [None, 3, {}, {"versions": 3}, {"versions": [4], "conversion": 3}])
def test_what_is_no_definition_takes_nothing_away(spec: Any) -> None:
    """An invalid definition is passed to the API server, and removes nothing from an installed one."""
    wanted = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": NAME}}
    wanted |= {} if spec is None else {"spec": spec}
    assert plan_installation(None, wanted).definition == wanted
    assert len(plan_installation(both(), wanted).losses) >= 2


async def test_a_field_that_goes_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """A removed field is only a warning, because stored objects may not use it."""
    narrowed = both()
    versions = [dict(version) for version in narrowed["spec"]["versions"]]
    versions[1]["schema"] = versions[0]["schema"]
    narrowed["spec"] = {**narrowed["spec"], "versions": versions}
    del narrowed["metadata"]["resourceVersion"]
    async with Client.connect(Config.in_process(ApiServer())) as client:
        await install_definitions(client, await definitions(add_jobs, target=SERVICE))
        await install_definitions(client, [narrowed])
    (told,) = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert told.startswith(
        f"Change of CustomResourceDefinition may break stored objects or clients: {NAME}: version v2, spec.schedule: "
    )


async def test_a_server_keeps_what_it_has(caplog: pytest.LogCaptureFixture) -> None:
    """The refusal names the losses and the flag, and changes nothing; an allowed loss is logged."""
    async with Client.connect(Config.in_process(ApiServer())) as client:
        await install_definitions(client, await definitions(add_jobs, target=SERVICE))
        before = (await client.get(DEFINITION, Key("", NAME))).to_wire()
        with pytest.raises(
            CommandFailed, match=r"(?s)version v2, in which objects are stored.*program\.definitions"
        ) as got:
            await install_definitions(client, [definition(Job)])
        assert "--allow-crd-loss" in str(got.value)
        assert (await client.get(DEFINITION, Key("", NAME))).to_wire() == before
        await install_definitions(client, await definitions(add_jobs))
        after = (await client.get(DEFINITION, Key("", NAME))).to_wire()
        assert after["spec"] == before["spec"]
        without_v1 = definition(JobV2)
        await install_definitions(client, [without_v1], allow_loss=True)
        after = (await client.get(DEFINITION, Key("", NAME))).to_wire()
        assert [each["name"] for each in after["spec"]["versions"]] == ["v2"]
    warned = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert warned == [
        (
            f"Change of CustomResourceDefinition may break stored objects or clients: {NAME}: "
            "version v1, spec.versions: the version was served: its clients fail"
        )
    ]


async def test_what_others_have_changed_meanwhile_is_looked_at_again() -> None:
    """A conflict is decided again: a version that another client has added meanwhile is kept."""
    server = ApiServer()
    async with Client.connect(Config.in_process(server)) as client, Client.connect(Config.in_process(server)) as other:
        await install_definitions(client, [definition(Job)])
        whole = await definitions(add_jobs, target=SERVICE)
        find, reads = client.find, 0

        async def quicker(*arguments: Any) -> Any:
            nonlocal reads
            found = await find(*arguments)
            reads += 1
            if reads == 1:
                await install_definitions(other, whole)
            return found

        client.find = quicker  # type: ignore[assignment, method-assign]
        with pytest.raises(CommandFailed, match="version v2, in which objects are stored"):
            await install_definitions(client, [definition(Job)])
    assert reads == 2


async def test_unconverted_versions_are_not_installed() -> None:
    """Two versions are not installed without the address of their conversion webhook, unless losses are allowed."""
    async with Client.connect(Config.in_process(ApiServer())) as client:
        with pytest.raises(CommandFailed, match="address of the program's webhook is unknown"):
            await install_definitions(client, await definitions(add_jobs))
        assert await client.find(DEFINITION, Key("", NAME)) is None
        await install_definitions(client, await definitions(add_jobs), allow_loss=True)
        made = await client.get(DEFINITION, Key("", NAME))
        assert made["spec"]["conversion"] == {"strategy": "None"}
