"""Restarts of an API server with a backend: clients find the same cluster."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, SQLiteBackend, User
from pyctrl.apiserver._authn import token_signing
from tests.unit.apiserver._kit import CONFIGMAPS, Asker

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/x.io/v1/namespaces/default/things"
SERVICES = "/api/v1/namespaces/default/services"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class Restarted(Asker):
    """A server of one run. Requests are an administrator's."""

    def answer(self, method: str, path: str, body: Any = None, *, headers: Any = None, **query: str) -> Any:
        own = {"Authorization": f"Bearer {self.server.loopback_token}"}
        return super().answer(method, path, body, headers={**own, **(headers or {})}, **query)


@contextmanager
def run(directory: Path, **options: Any) -> Iterator[Restarted]:
    """Run a server on a directory until the end of the block."""
    with SQLiteBackend(directory / "state.db") as backend:
        yield Restarted(ApiServer(backend=backend, **{"authorization": "RBAC", **options}))


def definition(plural: str = "things", group: str = "x.io", kind: str = "Thing") -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"plural": plural, "kind": kind},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def everything(ask: Asker) -> dict[str, list[bytes]]:
    return {
        "/".join(key): [stored.data for stored in collection.current("")]
        for key, collection in ask.server.storage.collections()
        if len(collection)
    }


def test_a_restart_changes_no_object(tmp_path: Path) -> None:
    """All objects, also the default ones, are the same after a restart, and so is the resource version."""
    with run(tmp_path) as ask:
        ask("POST", DEFINITIONS, definition())
        ask.make("a", data={"x": "ü"}, labels={"l": "1"})
        before, version = everything(ask), ask.server.storage.version
    with run(tmp_path) as ask:
        assert everything(ask) == before
        assert ask.server.storage.version == version
        ask.change("a", data={"x": "2"})
        assert ask("GET", CONFIGMAPS, labelSelector="l=1")[1]["items"][0]["data"] == {"x": "2"}


async def test_a_watch_continues_after_a_restart(tmp_path: Path) -> None:
    """A watch from a version of the run before has the events since, and then those of this run."""
    with run(tmp_path) as ask:
        version = ask.make("a")["metadata"]["resourceVersion"]
        ask.make("b")
        ask("DELETE", f"{CONFIGMAPS}/a")
    with run(tmp_path, authorization="AlwaysAllow") as ask:
        async with ask.watching(resourceVersion=version) as watching:
            ask.make("c")
            assert await watching.take(3) == [("ADDED", "b"), ("DELETED", "a"), ("ADDED", "c")]


def test_pages_continue_after_a_restart(tmp_path: Path) -> None:
    """A continue token of the run before returns the rest of the list as it was then."""
    with run(tmp_path) as ask:
        for name in "abc":
            ask.make(name)
        token = ask("GET", CONFIGMAPS, limit="1")[1]["metadata"]["continue"]
        ask("DELETE", f"{CONFIGMAPS}/b")
    with run(tmp_path) as ask:
        page = ask("GET", CONFIGMAPS, continue_=token)[1]
        assert [each["metadata"]["name"] for each in page["items"]] == ["b", "c"]


def test_an_old_version_is_too_old_after_a_restart(tmp_path: Path) -> None:
    """A version that was compacted before the restart gets 410 after it; so do those that a shorter history drops."""
    with run(tmp_path) as ask:
        version = ask.make("a")["metadata"]["resourceVersion"]
        for number in range(5):
            ask.change("a", data={"x": str(number)})
        newer = ask.change("a", data={"x": "z"})["metadata"]["resourceVersion"]
        ask.server.compact()
    with run(tmp_path) as ask:
        assert ask("GET", CONFIGMAPS, resourceVersion=version, resourceVersionMatch="Exact")[0] == 410
        assert ask("GET", CONFIGMAPS, resourceVersion=newer, resourceVersionMatch="Exact")[0] == 200
        ask.change("a", data={"x": "1"})
        ask.change("a", data={"x": "2"})
    with run(tmp_path, history=1) as ask:
        assert ask("GET", CONFIGMAPS, resourceVersion=newer, resourceVersionMatch="Exact")[0] == 410


def test_custom_resources_are_served_at_once(tmp_path: Path) -> None:
    """After a restart a definition is established and its objects are found, before anything is written."""
    with run(tmp_path) as ask:
        ask("POST", DEFINITIONS, definition())
        assert ask("POST", THINGS, {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a"}})[0] == 201
        stored = ask("GET", f"{DEFINITIONS}/things.x.io")[1]
    with run(tmp_path) as ask:
        assert ask("GET", f"{THINGS}/a")[1]["kind"] == "Thing"
        assert ask("GET", "/apis/x.io/v1")[1]["resources"][0]["name"] == "things"
        assert ask("GET", f"{DEFINITIONS}/things.x.io")[1] == stored


def test_definitions_keep_their_names(tmp_path: Path) -> None:
    """Of two definitions with one kind, the first one has it also after a restart, whatever they are called."""
    with run(tmp_path) as ask:
        ask("POST", DEFINITIONS, definition("mmm"))
        ask("POST", DEFINITIONS, definition("aaa"))
        ask("POST", DEFINITIONS, definition("zzz"))
        before = everything(ask)
    with run(tmp_path) as ask:
        assert everything(ask) == before
        assert ask("GET", "/apis/x.io/v1/mmm")[0] == 200
        assert [ask.answer("GET", f"/apis/x.io/v1/{plural}").status for plural in ("aaa", "zzz")] == [404, 404]


def test_a_definition_that_was_being_deleted(tmp_path: Path) -> None:
    """The deletion of a definition that waits for a finalizer of an object ends after a restart."""
    with run(tmp_path) as ask:
        ask("POST", DEFINITIONS, definition())
        thing = {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a", "finalizers": ["x.io/f"]}}
        assert ask("POST", THINGS, thing)[0] == 201
        ask("DELETE", f"{DEFINITIONS}/things.x.io")
        assert ask("GET", f"{DEFINITIONS}/things.x.io")[0] == 200
    with run(tmp_path) as ask:
        assert ask("GET", f"{THINGS}/a")[1]["metadata"]["deletionTimestamp"]
        merge = {"Content-Type": "application/merge-patch+json"}
        ask("PATCH", f"{THINGS}/a", {"metadata": {"finalizers": None}}, headers=merge)
        assert ask("GET", f"{DEFINITIONS}/things.x.io")[0] == 404


def test_services_keep_their_addresses(tmp_path: Path) -> None:
    """After a restart, cluster IPs and node ports of services are not allocated again."""

    def service(name: str, **ports: int) -> dict[str, Any]:
        spec = {"type": "NodePort", "ports": [{"port": 80, **ports}]}
        code, made = ask("POST", SERVICES, {"metadata": {"name": name}, "spec": spec})
        return {"code": code, **made}

    with run(tmp_path) as ask:
        first = service("a")
    with run(tmp_path) as ask:
        port = first["spec"]["ports"][0]["nodePort"]
        second = service("b")
        assert second["spec"]["clusterIP"] != first["spec"]["clusterIP"]
        assert second["spec"]["ports"][0]["nodePort"] != port
        refused = service("c", nodePort=port)
        assert (refused["code"], refused["message"].endswith("provided port is already allocated")) == (422, True)


@pytest.mark.parametrize("has_cryptography", [True, False])
def test_tokens_stay_valid(tmp_path: Path, has_cryptography: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service account's token is valid after a restart, also without `cryptography`; a user has one token."""
    jane = User(name="jane", groups=("team",))

    def new_process() -> None:
        token_signing._rsa_key.cache_clear()
        if not has_cryptography:
            monkeypatch.setitem(__import__("sys").modules, "cryptography.hazmat.primitives.asymmetric.rsa", None)

    try:
        new_process()
        with run(tmp_path) as ask:
            ask("POST", ACCOUNTS, {"metadata": {"name": "bot"}})
            account = ask("POST", f"{ACCOUNTS}/bot/token", {"spec": {}})[1]["status"]["token"]
            user, keys = ask.server.issue_token(jane), ask("GET", "/openid/v1/jwks")[1]
        new_process()
        with run(tmp_path) as ask:
            assert ask("GET", "/openid/v1/jwks")[1] == keys
            assert ask.server.issue_token(jane) == user != ask.server.issue_token(User(name="joe"))
            review = ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": account}})[1]
            assert review["status"]["user"]["username"] == "system:serviceaccount:default:bot"
            assert ask("GET", CONFIGMAPS, headers={"Authorization": f"Bearer {user}"})[0] == 403
    finally:
        token_signing._rsa_key.cache_clear()
    header = json.loads(base64.urlsafe_b64decode(account.split(".")[0] + "=="))
    assert header["alg"] == ("RS256" if has_cryptography else "HS256")


def test_default_objects_that_users_deleted_are_created_again(tmp_path: Path) -> None:
    """Each start creates the missing default objects, as kube-apiserver does, and leaves changed ones alone."""
    with run(tmp_path) as ask:
        merge = {"Content-Type": "application/merge-patch+json"}
        ask("PATCH", "/api/v1/namespaces/default", {"metadata": {"labels": {"mine": "1"}}}, headers=merge)
        assert ask("DELETE", f"{SERVICES}/kubernetes")[0] == 200
    with run(tmp_path) as ask:
        assert ask("GET", "/api/v1/namespaces/default")[1]["metadata"]["labels"]["mine"] == "1"
        assert ask("GET", f"{SERVICES}/kubernetes")[0] == 200


def test_a_webhook_does_not_block_the_start(tmp_path: Path) -> None:
    """A default object that was deleted is created again without the webhooks of the run before."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["services"], "operations": ["CREATE"]}
    webhook = {
        "name": "guard.example.com",
        "clientConfig": {"url": "https://example.com/guard"},
        "rules": [rule],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
    }
    with run(tmp_path) as ask:
        assert ask("DELETE", f"{SERVICES}/kubernetes")[0] == 200
        assert ask("POST", WEBHOOKS, {"metadata": {"name": "guard"}, "webhooks": [webhook]})[0] == 201
    with run(tmp_path) as ask:
        assert ask("GET", f"{WEBHOOKS}/guard")[0] == 200
        assert ask("GET", f"{SERVICES}/kubernetes")[0] == 200


def test_virtual_clusters_can_be_restarted(tmp_path: Path) -> None:
    """Uids come from the given source of randomness, so the next run needs another seed to give new ones."""
    with run(tmp_path, random=Random(1)) as ask:
        first = ask.make("a")["metadata"]["uid"]
    with run(tmp_path, random=Random(2)) as ask:
        assert ask.make("b")["metadata"]["uid"] != first
