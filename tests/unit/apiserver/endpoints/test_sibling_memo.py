"""Objects that are created again with the same body: the server decodes the body once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pyctrl import _clock
from tests.unit.apiserver._kit import CONFIGMAPS, Asker

PODS = "/api/v1/namespaces/default/pods"
CONTAINER = {"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "0.5"}}}
POD = {"metadata": {"generateName": "web-", "labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}


def without_identity(pod: dict[str, Any]) -> dict[str, Any]:
    """Return a pod without what no two pods share, and without the times of its managed fields."""
    metadata = {key: each for key, each in pod["metadata"].items() if key not in ("name", "uid", "resourceVersion")}
    metadata["managedFields"] = [{**each, "time": ""} for each in metadata["managedFields"]]
    return {**pod, "metadata": {**metadata, "creationTimestamp": ""}}


def test_siblings_differ_in_their_identity_only() -> None:
    """Pods that are created by the same request are equal but for names, uids, versions and times."""
    ask = Asker()
    with _clock.use(lambda: datetime(2026, 1, 1, tzinfo=UTC)):
        _, first = ask("POST", PODS, POD)
    with _clock.use(lambda: datetime(2026, 1, 2, tzinfo=UTC)):
        code, second = ask("POST", PODS, POD)
    assert code == 201
    assert without_identity(second) == without_identity(first)
    assert second["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "500m"}}
    for field in ("name", "uid", "resourceVersion"):
        assert second["metadata"][field] != first["metadata"][field]
    times = [second["metadata"]["creationTimestamp"], *(each["time"] for each in second["metadata"]["managedFields"])]
    assert times == ["2026-01-02T00:00:00Z"] * 2


def test_another_manager_owns_what_it_creates() -> None:
    """The managed fields of a sibling name the manager of its own request."""
    ask = Asker()
    for manager in ("one", "two"):
        _, made = ask("POST", PODS, POD, fieldManager=manager)
        assert [each["manager"] for each in made["metadata"]["managedFields"]] == [manager]


def test_another_namespace_gets_its_own_objects() -> None:
    """The same body is an object of the namespace in the URL."""
    ask = Asker()
    for namespace in ("default", "kube-system"):
        _, made = ask("POST", f"/api/v1/namespaces/{namespace}/pods", POD)
        assert made["metadata"]["namespace"] == namespace


def test_strict_validation_refuses_what_was_ignored_before() -> None:
    """A body that was accepted with unknown fields ignored is refused by strict validation, and ignored again after."""
    ask = Asker()
    body = {**POD, "unknown": 1}
    codes = [ask("POST", PODS, body, fieldValidation=each)[0] for each in ("Ignore", "Strict", "Ignore")]
    assert codes == [201, 400, 201]


def test_each_request_is_warned() -> None:
    """A warning about a body comes with each of its requests."""
    ask = Asker()
    for _ in range(2):
        answer = ask.answer("POST", PODS, {**POD, "unknown": 1}, fieldValidation="Warn")
        assert [value for name, value in answer.headers if name == "Warning"] == ['299 - "unknown field \\"unknown\\""']


@pytest.mark.parametrize("labels", [{"a": "1"}, {"a": "2"}])
def test_bodies_of_the_same_length_are_told_apart(labels: dict[str, str]) -> None:
    """An object has the fields of its own body, although the one before had as many bytes."""
    ask = Asker()
    ask("POST", CONFIGMAPS, {"metadata": {"generateName": "c-", "labels": {"a": "0"}}})
    _, made = ask("POST", CONFIGMAPS, {"metadata": {"generateName": "c-", "labels": labels}})
    assert made["metadata"]["labels"] == labels


def test_sent_managed_fields_keep_their_times() -> None:
    """Managed fields that a client sends are stored as they are, also those of a sibling."""
    ask = Asker()
    entry: dict[str, Any] = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    entry |= {"time": "2020-01-01T00:00:00Z", "fieldsV1": {"f:immutable": {}}}
    body = {"metadata": {"generateName": "c-", "managedFields": [entry]}, "data": {"k": "v"}}
    for _ in range(2):
        _, made = ask("POST", CONFIGMAPS, body)
        assert entry in made["metadata"]["managedFields"]
