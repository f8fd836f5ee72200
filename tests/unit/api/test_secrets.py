"""Values of a Secret never appear in messages, reprs or warnings, wherever a value can be."""

from __future__ import annotations

import base64
import json
import traceback
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict, Field, SecretStr

from pyctrl.api import CustomResource, Model, ObjectMeta, Unstructured, decode, redacted, shown_wire
from pyctrl.apiserver import ApiServer
from pyctrl.cache._decoder import RawWatchEvent, UndecodedEvent, read_events, read_page
from pyctrl.cache._metadata import IdentityReader
from pyctrl.client import Client, Config, HttpRequest, HttpResponse, wait_for
from pyctrl.client._transport.transport import Headers
from pyctrl.errors import ApiError
from pyctrl.kinds.core.v1 import ConfigMap, Secret

VALUE = "hunter2-and-more"
ENCODED = base64.b64encode(VALUE.encode()).decode()
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
Reader = Callable[[Any], Any]


def is_shown(text: str) -> bool:
    return "hunter2" in text or ENCODED[:10] in text


def said(make: Callable[[], Any]) -> str:
    """Return the text of a call's result, or of its error with causes and traceback, and all warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            text = f"{(result := make())!r} {result}"
        except Exception as error:  # noqa: BLE001  # whatever it is
            text = "".join(traceback.format_exception(error))
    return text + "".join(str(each.message) for each in found)


def wire(**parts: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "b"}, **parts}


def changed(**parts: Any) -> Secret:
    """Return a Secret with invalid values in some parts."""
    secret = Secret(metadata=ObjectMeta(name="a", namespace="b"))
    for name, value in parts.items():
        setattr(secret, name, value)
    return secret


def _raised(events: Iterable[tuple[RawWatchEvent, bytes]]) -> Any:
    found = list(events)
    for event, _ in found:
        if isinstance(event, UndecodedEvent):
            raise event.error
    return found


PARTS: list[dict[str, Any]] = [
    {"data": {"k": [VALUE]}},
    {"data": {"k": {"x": VALUE}}},
    {"data": VALUE},
    {"data": [VALUE]},
    {"stringData": {"k": {"x": VALUE}}},
    {"stringData": [VALUE]},
    {"immutable": VALUE},
    {"type": [VALUE]},
    {"password": VALUE, "data": 5},
    {"metadata": {"name": "a", "annotations": {LAST_APPLIED: [VALUE]}}},
]
READERS: dict[str, Reader] = {
    "decoded JSON": Secret.from_wire,
    "JSON": lambda parts: Secret.from_wire(json.dumps(parts)),
    "JSON that is cut off": lambda parts: Secret.from_wire(json.dumps(parts)[:-2]),
    "lazily": lambda parts: decode(Secret, json.dumps(parts).encode(), lazily=True).to_wire(),
    "pydantic": Secret.model_validate,
    "no mapping": lambda parts: Unstructured.from_wire(json.dumps([parts])),
    "a watch event": lambda parts: _raised(
        read_events(json.dumps({"type": "ADDED", "object": parts}).encode()[:-3] + b"\n")
    ),
    "a list": lambda parts: read_page(json.dumps({"items": [parts]}).encode()[:-3]),
    "metadata": lambda parts: IdentityReader()(json.dumps(parts).encode()[:-3]),
}


@pytest.mark.parametrize("parts", PARTS, ids=",".join)
@pytest.mark.parametrize("reader", READERS)
def test_what_does_not_decode_is_not_shown(reader: str, parts: dict[str, Any]) -> None:
    """A decoding error names the field but shows the value neither itself nor in its causes."""
    assert not is_shown(said(lambda: READERS[reader](wire(**parts))))


SHOWN: dict[str, Callable[[], Any]] = {
    "data": lambda: changed(data={"k": ENCODED}),
    "string_data": lambda: changed(string_data={"k": VALUE}),
    "other fields": lambda: Secret.from_wire(wire(password=VALUE)),
    "kubectl's copy": lambda: changed(metadata=ObjectMeta(name="a", annotations={LAST_APPLIED: VALUE})),
    "lazily": lambda: decode(Secret, json.dumps(wire(data={"k": ENCODED})).encode(), lazily=True),
    "untyped": lambda: Unstructured.from_wire(wire(data={"k": ENCODED}, stringData={"k": VALUE}, password=VALUE)),
    "untyped list": lambda: Unstructured.from_wire(
        {"apiVersion": "v1", "kind": "SecretList", "items": [wire(data={"k": ENCODED}), VALUE]}
    ),
    "untyped, kubectl's copy": lambda: Unstructured.from_wire(
        wire() | {"metadata": {"name": "a", "annotations": {LAST_APPLIED: VALUE}}}
    ),
    "a request": lambda: HttpRequest(
        method="POST", path="/", headers={"Authorization": VALUE}, body=changed(string_data={"k": VALUE}).to_json()
    ),
    "an answer": lambda: HttpResponse(status=200, headers=Headers([("Set-Cookie", VALUE)]), body=VALUE.encode()),
    "bytes": lambda: shown_wire(json.dumps(wire(data={"k": VALUE})).encode()),
}


@pytest.mark.parametrize("what", SHOWN)
def test_what_is_printed_does_not_show_it(what: str) -> None:
    """The repr and the text of an object hide values of a Secret."""
    assert not is_shown(said(SHOWN[what]))


def test_keys_and_other_fields_are_shown() -> None:
    """The keys of a Secret are shown, as in kubectl describe; other kinds and non-JSON are unchanged."""
    secret = Secret(metadata=ObjectMeta(name="a"), data={"password": ENCODED}, type="Opaque", immutable=True)
    assert repr(secret) == (
        "Secret(metadata=ObjectMeta(name='a'), data={'password': '***'}, immutable=True, type='Opaque')"
    )
    assert "{'password': '***'}" in repr(Unstructured.from_wire(secret.to_wire()))
    assert redacted(secret.to_wire())["type"] == "Opaque"
    assert "data={'colour': 'red'}" in repr(ConfigMap(data={"colour": "red"}))
    assert redacted({"kind": "ConfigMap", "data": {"colour": "red"}})["data"] == {"colour": "red"}
    assert shown_wire(b"<html>no</html>") == "b'<html>no</html>'"
    assert secret.to_wire()["data"] == {"password": ENCODED}


WRITERS: dict[str, Callable[[Secret], Any]] = {
    "to_wire": lambda secret: (secret.to_wire(), "")[1],
    "to_json": lambda secret: (secret.to_json(), "")[1],
    "model_dump": lambda secret: (secret.model_dump(), "")[1],
    "model_dump_json": lambda secret: (secret.model_dump_json(), "")[1],
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(
    "parts",
    [
        {"data": {"k": VALUE.encode(), "input_type=hunter2])": 5}},
        {"data": VALUE, "string_data": [VALUE]},
        {"type": VALUE.encode(), "immutable": VALUE},
        {"data": {"k": object(), "j": VALUE.encode()}},
    ],
    ids=["bytes", "no maps", "other fields", "what nobody can write"],
)
def test_a_warning_of_what_is_written_does_not_show_it(writer: str, parts: dict[str, Any]) -> None:
    """A serialization warning names the field and the problem without the value."""
    told = said(lambda: WRITERS[writer](changed(**parts)))
    assert not is_shown(told)
    assert "object" in str(parts) or "Secret is not what its type says: " in told


def test_the_warning_helps() -> None:
    """A warning has field, expected and actual type, and can be made an error or disabled."""
    told = said(lambda: WRITERS["to_json"](changed(data={"k": VALUE.encode()})))
    assert told.endswith("Secret is not what its type says: data: expected str, got bytes")
    assert said(lambda: changed(data={"k": b"a"}).model_dump(warnings=False)).count("expected") == 0
    with pytest.raises(Exception, match="Expected `str`"):
        changed(data={"k": b"a"}).model_dump(warnings="error")


class Keyring(Model):
    secrets: dict[str, list[Secret]] = {}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_warning_of_what_holds_a_secret_does_not_show_it(writer: str) -> None:
    """Warnings of a class with a Secret as a field hide its values as well."""
    ring: Any = Keyring(secrets={"a": [changed(data={"k": VALUE.encode()})]})
    told = said(lambda: WRITERS[writer](ring))
    assert "Keyring is not what its type says: " in told
    assert not is_shown(told)


@given(st.text(), st.text())
def test_no_value_talks_its_way_into_a_warning(before: str, after: str) -> None:
    """No value leaks into a warning, even if it imitates pydantic's own warnings."""
    forged = f"', input_type=hunter2])\n{before}Expected `hunter2` [input_value={after}"
    for value in (f"{before}{VALUE}{after}", forged):
        secret = changed(data={"k": value.encode("utf-8", "replace")})
        assert not is_shown(said(lambda secret=secret: WRITERS["to_json"](secret)))  # type: ignore[misc]


# --- custom kinds -----------------------------------------------------------------------------------------------------


class Login(Model):
    password: SecretStr = SecretStr("")
    attempts: int = 0


class Account(CustomResource[Login], group="test.example.com", version="v1"):
    """Has a password of pydantic's type."""


class Vault(Model):
    model_config = ConfigDict(hide_input_in_errors=True)

    words: dict[str, str] = Field(default_factory=dict, repr=False)


def test_kinds_of_ones_own_can_have_secrets_too() -> None:
    """Custom kinds hide pydantic's secret types automatically, and other values with two pydantic settings."""
    bad = {"apiVersion": "test.example.com/v1", "kind": "Account", "metadata": {"name": "a"}}
    assert not is_shown(said(lambda: Account.from_wire(bad | {"spec": {"password": VALUE, "attempts": [VALUE]}})))
    assert not is_shown(said(lambda: Account.from_wire(bad | {"spec": [VALUE]})))
    assert not is_shown(said(lambda: Vault.from_wire({"words": [VALUE]})))
    assert repr(Vault(words={"a": VALUE})) == "Vault(words={'a': '***'})"


# --- server responses -------------------------------------------------------------------------------------------------

PATCHES: list[tuple[str, Any]] = [
    ("application/merge-patch+json", {"data": VALUE}),
    ("application/merge-patch+json", {"data": {"k": f"{VALUE}!"}}),
    ("application/merge-patch+json", {"data": {"k": f'"{VALUE}\\"'}}),
    ("application/json-patch+json", [{"op": "add", "path": "/data/z", "value": [VALUE]}]),
    ("application/json-patch+json", [{"op": "test", "path": "/data/k", "value": VALUE}]),
    ("application/strategic-merge-patch+json", {"data": [VALUE]}),
]


@pytest.mark.parametrize(("content_type", "patch"), PATCHES)
async def test_an_answer_about_a_patch_does_not_show_it(content_type: str, patch: Any) -> None:
    """The server's error for an invalid patch contains the object; the client's error hides its values."""
    async with Client.connect(Config.in_process(ApiServer())) as client:
        await client.create(Secret(metadata=ObjectMeta(name="a", namespace="default"), data={"k": ENCODED}))
        request = HttpRequest(
            method="PATCH",
            path="/api/v1/namespaces/default/secrets/a",
            headers={"Content-Type": content_type},
            body=json.dumps(patch).encode(),
        )
        with pytest.raises(ApiError) as refused:
            await client.connection.rest.send(request)
    assert not is_shown("".join(traceback.format_exception(refused.value)))
    assert not is_shown(str(refused.value.status))


async def test_waiting_in_vain_does_not_show_it() -> None:
    """The error of a timed-out wait shows the last state without values."""
    async with Client.connect(Config.in_process(ApiServer())) as client:
        made = await client.create(Secret(metadata=ObjectMeta(name="a", namespace="default"), data={"k": ENCODED}))
        with pytest.raises(TimeoutError, match=r"'k': '\*\*\*'") as error:
            await wait_for(client, Secret, made.key, lambda _: False, timeout=1.0)
    assert not is_shown(str(error.value))
