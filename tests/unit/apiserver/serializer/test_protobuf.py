"""Protobuf bodies: Go's encoding of every kind decodes to its JSON, and malformed bodies have Go's errors."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl._protobuf_wire import WireError, WireType, fields, signed
from pyctrl.apiserver._errors import PROTOBUF, StatusError
from pyctrl.apiserver._serializer.decoding import decode_object
from tests.unit.apiserver._kit import CONFIGMAPS, Asker

HEADERS = {"content-type": PROTOBUF}
SAMPLES = json.loads(Path(__file__).with_name("protobuf_samples.json").read_text())  # tools/protobuf writes it


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def enveloped(content: bytes, version: str = "v1", kind: str = "ConfigMap") -> bytes:
    typed = field(1, version.encode()) + field(2, kind.encode())
    return b"k8s\0" + field(1, typed) + field(2, content) + field(3, b"") + field(4, b"")


CONFIG_MAP = field(1, field(1, b"a")) + field(2, field(1, b"k") + field(2, b"v"))


def decoded(body: bytes, kind: str = "ConfigMap") -> dict[str, Any]:
    return decode_object(body, HEADERS, kind)


def refusal(body: bytes, kind: str = "ConfigMap") -> tuple[int, str]:
    with pytest.raises(StatusError) as refused:
        decoded(body, kind)
    return refused.value.code, str(refused.value)


def without_nulls(value: Any) -> Any:
    """Treat null as an absent list: Go writes null, and the server accepts both."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample['json']['kind']}-{len(sample['protobuf'])}")
def test_what_go_writes_is_read(sample: dict[str, Any]) -> None:
    """Each kind, with every field set and with none, decodes to the JSON that Go writes for the same object."""
    body = base64.b64decode(sample["protobuf"])

    assert decoded(body, sample["json"]["kind"]) == without_nulls(sample["json"])


def test_an_object_comes_in(ask: Asker) -> None:
    """A create with a protobuf body creates the object, and the response is JSON."""
    code, made = ask("POST", CONFIGMAPS, enveloped(CONFIG_MAP), headers=HEADERS)

    assert (code, made["kind"], made["metadata"]["name"], made["data"]) == (201, "ConfigMap", "a", {"k": "v"})


def test_an_object_of_another_kind_is_refused(ask: Asker) -> None:
    """A protobuf body of another kind than the URL's is 400, and the message names both."""
    code, told = ask("POST", CONFIGMAPS, enveloped(CONFIG_MAP, kind="Nothing"), headers=HEADERS)

    assert code == 400
    assert 'Nothing in version "v1" cannot be handled as a ConfigMap: no kind "Nothing" is regi' in told["message"]


@pytest.mark.parametrize("version", ["v1", "apps/v1", "meta.k8s.io/v1", "example.com/v7", "a/b/c", ""])
def test_options_of_a_delete_may_name_any_group(ask: Asker, version: str) -> None:
    """DeleteOptions of any group version decode, because typed Go clients send the resource's."""
    ask.make("a")

    code, _ = ask("DELETE", f"{CONFIGMAPS}/a", enveloped(field(5, b"All"), version, "DeleteOptions"), headers=HEADERS)

    assert code == 200
    assert ask("GET", f"{CONFIGMAPS}/a")[0] == 200


def test_options_of_a_delete_come_in(ask: Asker) -> None:
    """DeleteOptions apply: a dry run deletes nothing."""
    ask.make("a")

    code, _ = ask("DELETE", f"{CONFIGMAPS}/a", enveloped(field(5, b"All"), kind="DeleteOptions"), headers=HEADERS)

    assert code == 200
    assert ask("GET", f"{CONFIGMAPS}/a")[0] == 200


def test_an_envelope_that_tells_no_kind_has_the_one_asked_for() -> None:
    """Version and kind are optional."""
    assert decoded(enveloped(CONFIG_MAP, "", "")) == {"metadata": {"name": "a"}, "data": {"k": "v"}}


def test_fields_of_a_newer_release_are_passed_over() -> None:
    """A field with an unknown number is skipped, in any wire format."""
    newer = field(2000, b"x") + field(2001, 7) + varint(2002 << 3 | 5) + b"1234" + varint(2003 << 3 | 1) + b"12345678"

    assert decoded(enveloped(newer + CONFIG_MAP)) == decoded(enveloped(CONFIG_MAP))


def test_packed_lists_are_read() -> None:
    """A list of numbers can be packed, as other languages write it."""
    ids = varint(-1) + varint(300)
    security = field(4, ids)  # PodSecurityContext.supplementalGroups
    pod = enveloped(field(2, field(14, security)), kind="Pod")

    assert decoded(pod, "Pod")["spec"]["securityContext"]["supplementalGroups"] == [-1, 300]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "unrecognized (must be of type ConfigMap): empty data (<empty>)"),
        (b"k8s\0", "unrecognized (must be of type ConfigMap): empty body (6b387300)"),
        (
            b"abc",
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (616263)",
        ),
        (b"k8s\0\xff", "unrecognized (must be of type ConfigMap): unexpected EOF (6b387300ff)"),
        (enveloped(b"\x0a\x05abc"), 'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF'),
        (enveloped(b"\xff" * 11), "cannot be handled as a ConfigMap: proto: integer overflow"),
        (enveloped(field(2, 5)), "cannot be handled as a ConfigMap: proto: wrong wireType = 0 for field Data"),
        (enveloped(field(1, field(8, field(1, 2**60)))), "time out of range: 1152921504606846976 seconds"),
        (enveloped(field(1, field(17, field(7, field(1, b"{"))))), "cannot be handled as a ConfigMap: json: "),
    ],
)
def test_what_is_no_object_is_refused(body: bytes, message: str) -> None:
    """Malformed bodies are 400, and the message has the reason."""
    code, told = refusal(body)

    assert code == 400
    assert message in told


def test_a_custom_resource_has_no_protobuf() -> None:
    """A protobuf body of a custom resource is 415, with the accepted media types."""
    code, told = refusal(enveloped(CONFIG_MAP), "PodSet")

    assert code == 415
    assert "application/json, application/yaml" in told


def test_another_kind_than_the_urls_is_refused(ask: Asker) -> None:
    """A Secret cannot be posted to ConfigMaps."""
    code, told = ask("POST", CONFIGMAPS, enveloped(CONFIG_MAP, kind="Secret"), headers=HEADERS)

    assert code == 400
    assert told["message"].startswith('Secret in version "v1" cannot be handled as a ConfigMap')


def test_messages_that_are_nested_without_end_are_refused() -> None:
    """Ten thousand nested schemas are refused."""
    schema = b""
    for _ in range(10_000):
        schema = field(28, schema)  # JSONSchemaProps.not
    version = field(1, b"v1") + field(4, field(1, schema))
    definition = enveloped(field(2, field(7, version)), "apiextensions.k8s.io/v1", "CustomResourceDefinition")

    assert refusal(definition, "CustomResourceDefinition")[0] == 400


def test_who_is_sent_no_protobuf_does_not_pay() -> None:
    """Importing the server and requests with JSON load neither the decoder nor the messages."""
    program = (
        "import sys; from pyctrl.apiserver import ApiServer\n"
        f'answer = ApiServer().handle_nowait(\'POST\', {CONFIGMAPS!r}, body=b\'{{"metadata": {{"name": "a"}}}}\')\n'
        "print(answer.status, [name for name in sys.modules if 'protobuf' in name])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "201 []"


# -- the wire --------------------------------------------------------------------------------------------------


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_survive(number: int) -> None:
    """Every 64-bit number, also negative ones, decodes to itself."""
    assert [signed(value) for _, _, value in fields(field(1, number)) if isinstance(value, int)] == [number]


@given(st.lists(st.tuples(st.integers(1, 2**20), st.one_of(st.binary(max_size=200), st.integers(0, 2**64 - 1)))))
def test_fields_survive(written: list[tuple[int, bytes | int]]) -> None:
    """Fields are read in their order, with their numbers and values."""
    data = b"".join(field(number, value) for number, value in written)

    assert [(number, value) for number, _, value in fields(data)] == written


@given(st.binary(max_size=60))
def test_any_bytes_end(data: bytes) -> None:
    """Any bytes are decoded or refused, without another error."""
    try:
        for number, wire, value in fields(data):
            assert number > 0
            assert isinstance(value, int) == (wire is WireType.VARINT)
    except WireError:
        pass


@given(st.binary(max_size=60), st.sampled_from(["ConfigMap", "Pod", "Event", "CustomResourceDefinition"]))
def test_any_envelope_is_an_object_or_refused(data: bytes, kind: str) -> None:
    """Any envelope decodes to an object that JSON can encode, or is refused."""
    try:
        answer = decoded(enveloped(data, "", ""), kind)
    except StatusError as refused:
        answer = refused.status
    assert json.dumps(answer)
    assert answer.get("code", 400) == 400
