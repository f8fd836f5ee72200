"""create, replace and patch, and what is refused."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyctrl._go.json_errors import syntax_error
from pyctrl.apiserver import ApiServer
from pyctrl.apiserver._serializer.yaml_reader import read_yaml
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker


def test_a_new_object_gets_its_system_fields(ask: Asker) -> None:
    """uid, creationTimestamp and resourceVersion are the server's, whatever the client wrote."""
    made = ask.make("a", uid="mine", creationTimestamp="2001-01-01T00:00:00Z", deletionTimestamp="2001-01-01T00:00:00Z")
    metadata = made["metadata"]
    assert metadata["uid"] != "mine"
    assert not metadata["creationTimestamp"].startswith("2001")
    assert "deletionTimestamp" not in metadata
    assert metadata["namespace"] == "default"


def test_the_same_randomness_makes_the_same_objects() -> None:
    """Two servers with the same seed give the same uids and names: a test can be repeated exactly."""

    def made() -> Any:
        return Asker(ApiServer(random=Random(1)))("POST", CONFIGMAPS, {"metadata": {"generateName": "a-"}})[1]

    first, second = made(), made()
    assert first["metadata"]["uid"] == second["metadata"]["uid"]
    assert first["metadata"]["name"] == second["metadata"]["name"]
    assert len(first["metadata"]["name"]) == len("a-") + 5


def test_an_unchanged_write_keeps_the_version(ask: Asker) -> None:
    """Writing what is there already is no write: the resourceVersion stays and watchers hear nothing."""
    made = ask.make("a", data={"k": "v"})
    code, again = ask("PUT", f"{CONFIGMAPS}/a", {"metadata": {"name": "a"}, "data": {"k": "v"}})
    assert code == 200
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    assert ask.change("a", data={"k": "v"})["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_a_replacement_of_an_older_version_is_a_conflict(ask: Asker) -> None:
    """Who read an older version may not overwrite what came after; without a version, the last writer wins."""
    old = ask.make("a")["metadata"]["resourceVersion"]
    ask.change("a", data={"k": "1"})
    body = {"metadata": {"name": "a", "resourceVersion": old}, "data": {"k": "2"}}
    code, status = ask("PUT", f"{CONFIGMAPS}/a", body)
    assert (code, status["reason"]) == (409, "Conflict")
    assert ask("PUT", f"{CONFIGMAPS}/a", {"metadata": {"name": "a"}, "data": {"k": "2"}})[0] == 200


def test_an_object_cannot_be_made_with_a_version(ask: Asker) -> None:
    """A create with a resourceVersion is a client's mistake, and kube-apiserver answers 500 to it."""
    code, status = ask("POST", CONFIGMAPS, {"metadata": {"name": "a", "resourceVersion": "5"}})
    assert (code, status["message"]) == (500, "resourceVersion should not be set on objects to be created")


def test_a_patch_may_carry_the_version_it_is_for(ask: Asker) -> None:
    """resourceVersion in a patch is a precondition: optimistic locking without a replacement."""
    old = ask.make("a")["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": old}, "data": {"k": "1"}}
    assert ask("PATCH", f"{CONFIGMAPS}/a", patch, headers=MERGE)[0] == 200
    assert ask("PATCH", f"{CONFIGMAPS}/a", patch, headers=MERGE)[0] == 409


LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"


def test_a_replacement_may_create_a_lease(ask: Asker) -> None:
    """Some kinds are made by the PUT of what is not there, others are not found."""
    assert ask("PUT", f"{LEASES}/a", {"metadata": {"name": "a"}, "spec": {"holderIdentity": "x"}})[0] == 201
    assert ask("PUT", f"{CONFIGMAPS}/a", {"metadata": {"name": "a"}})[0] == 404


def test_some_kinds_are_only_replaced_by_who_names_a_version(ask: Asker) -> None:
    """A lease is never taken by accident: a replacement that does not say which version it replaces is refused."""
    made = ask("PUT", f"{LEASES}/a", {"metadata": {"name": "a"}, "spec": {"holderIdentity": "x"}})[1]
    code, status = ask("PUT", f"{LEASES}/a", {"metadata": {"name": "a"}, "spec": {"holderIdentity": "y"}})
    assert (code, status["details"]["causes"][0]["field"]) == (422, "metadata.resourceVersion")
    made["spec"]["holderIdentity"] = "y"
    assert ask("PUT", f"{LEASES}/a", made)[0] == 200


def test_a_refusal_shows_how_the_body_begins(ask: Asker) -> None:
    """A body that is no object is refused with its first bytes, hexadecimal when it does not look like JSON."""
    assert ask("POST", CONFIGMAPS, b"")[1]["message"].endswith("unexpected end of JSON input (<empty>)")
    assert ask("POST", CONFIGMAPS, b"[1]")[1]["message"].endswith("(5b315d)")
    assert ask("POST", CONFIGMAPS, b"{" + b"x" * 40)[1]["message"].endswith("({" + "x" * 29 + " ...)")


def test_a_dry_run_changes_nothing(ask: Asker) -> None:
    """dryRun=All answers what would be, and nothing is."""
    before = ask.server.storage.version
    code, made = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}}, dryRun="All")
    assert (code, "resourceVersion" in made["metadata"]) == (201, False)
    assert ask("GET", f"{CONFIGMAPS}/a")[0] == 404
    assert ask.server.storage.version == before


def test_creating_needs_a_living_namespace(ask: Asker) -> None:
    """A namespace that is not there is 404, one that is going is 403."""
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
    path = "/api/v1/namespaces/n/configmaps"
    assert ask("POST", path, {"metadata": {"name": "a"}})[0] == 201
    assert ask("DELETE", "/api/v1/namespaces/n")[1]["status"]["phase"] == "Terminating"
    code, status = ask("POST", path, {"metadata": {"name": "b"}})
    assert (code, status["details"]["causes"][0]["reason"]) == (403, "NamespaceTerminating")
    assert ask("POST", "/api/v1/namespaces/none/configmaps", {"metadata": {"name": "b"}})[0] == 404


def test_yaml_bodies_are_read_as_go_reads_them(ask: Asker) -> None:
    """A YAML body makes the same object as JSON would."""
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  when: 2001-01-01\n"
    code, made = ask("POST", CONFIGMAPS, body, headers={"Content-Type": "application/yaml"})
    assert (code, made["data"]) == (201, {"when": "2001-01-01"})


def test_yaml_scalars_are_go_yamls() -> None:
    """y and n are booleans, as keys too; times, 1:30 and dates are text; 1e3 is a number."""
    read = read_yaml(b"{a: y, n: 1, t: 1:30, d: 2001-01-01, e: 1e3, o: 0o7, h: 0x1f, s: '5', u: ~}", [])
    assert read == {
        "a": True, "false": 1, "t": "1:30", "d": "2001-01-01", "e": 1000, "o": "0o7", "h": 31, "s": "5", "u": None
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{not", "invalid character 'n' looking for beginning of object key string"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b'{"a":01}', "invalid character '1' after object key:value pair"),
        (b"trux", "invalid character 'x' in literal true (expecting 'e')"),
        (b'"\n"', r"invalid character '\n' in string literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"{} x", "invalid character 'x' after top-level value"),
        (b"[" * 20_000, "invalid character '[' exceeded max depth"),
    ],
)
def test_text_that_is_not_json_is_refused_in_gos_words(text: bytes, message: str) -> None:
    """A client that logs the message sees what kube-apiserver would have said."""
    assert syntax_error(text) == message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, st.sampled_from([None, 1]))
def test_json_has_no_syntax_error(value: Any, indent: int | None) -> None:
    """Whatever is JSON passes the scanner."""
    assert syntax_error(json.dumps(value, indent=indent).encode()) == ""


@given(st.binary(max_size=40))
def test_any_body_is_answered(body: bytes) -> None:
    """No body, however broken, is a fault of the server."""
    ask = Asker(SHARED)
    code, _ = ask("POST", CONFIGMAPS, body)
    assert code in (201, 400, 409, 422)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])  # a busy machine makes examples slowly
@given(st.dictionaries(st.sampled_from(["metadata", "data", "kind", "apiVersion"]), json_values), st.booleans())
def test_any_object_is_answered(body: dict[str, Any], patches: bool) -> None:
    """No object, however wrong its types, is a fault of the server: created, or patched in."""
    ask = Asker(SHARED)
    if patches:
        code, _ = ask("PATCH", f"{CONFIGMAPS}/there", body, headers=MERGE)
    else:
        code, _ = ask("POST", CONFIGMAPS, body)
    assert code in (200, 201, 400, 404, 409, 422)


SHARED = ApiServer(random=Random(3))
Asker(SHARED).make("there")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("PUT", CONFIGMAPS, 405),
        ("POST", f"{CONFIGMAPS}/a", 405),
        ("POST", "/api/v1/configmaps", 405),
        ("DELETE", "/api/v1/configmaps", 405),
        ("GET", "/api/v1/namespaces/default/nosuch", 404),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
        ("GET", "/apis/nosuch.io/v1/things", 404),
        ("GET", f"{CONFIGMAPS}/a/nosuch", 404),
        ("GET", "/nosuch", 404),
    ],
)
def test_what_is_not_served(ask: Asker, method: str, path: str, code: int) -> None:
    """A path that is not there is 404, a method that it does not have is 405."""
    assert ask.answer(method, path).status == code


def test_status_has_its_own_door(ask: Asker) -> None:
    """A write of the object leaves its status alone, a write of the status leaves the object alone."""
    nodes = "/api/v1/nodes"
    ask("POST", nodes, {"metadata": {"name": "n"}, "spec": {"podCIDR": "10.1.0.0/24"}})
    wish = {"spec": {"unschedulable": True}, "status": {"phase": "Running"}}
    _, changed = ask("PATCH", f"{nodes}/n", wish, headers=MERGE)
    assert (changed["spec"].get("unschedulable"), changed["status"].get("phase")) == (True, None)
    wish = {"spec": {"unschedulable": None}, "status": {"phase": "Running"}}
    _, changed = ask("PATCH", f"{nodes}/n/status", wish, headers=MERGE)
    assert (changed["spec"].get("unschedulable"), changed["status"].get("phase")) == (True, "Running")


@pytest.mark.parametrize("content_type", ["application/merge-patch+json", "application/json"])
def test_what_is_nested_too_deeply_is_refused(content_type: str) -> None:
    """A body of a hundred thousand levels is the client's mistake, not the server's."""
    server = ApiServer()
    depth = 100_000
    body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"x":' + b"[" * depth + b"]" * depth + b"}"
    method, path = ("PATCH", "/deep") if "patch" in content_type else ("POST", "")
    root = "/api/v1/namespaces/default/configmaps"
    if method == "PATCH":
        server.handle_nowait("POST", root, body=b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"}}')
    answer = server.handle_nowait(method, root + path, headers={"content-type": content_type}, body=body)
    assert answer.status == 400


def test_an_object_in_a_namespace_is_not_found_without_it(ask: Asker) -> None:
    """Only collections reach over all namespaces: one object of them is no resource, and creating one no method."""
    assert ask("GET", "/api/v1/configmaps/a")[0] == 404
    assert ask("POST", "/api/v1/configmaps", {})[0] == 405
