"""Validation of clientConfig and review versions."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._webhooks.client_config import validate_client_config, validate_review_versions

SERVICE = {"namespace": "n", "name": "s"}


@pytest.mark.parametrize(
    "config",
    [
        {"url": "https://h.example:8443/a%20b"},
        {"service": SERVICE},
        {"service": {**SERVICE, "path": "/a/b", "port": 1}},
    ],
)
def test_valid_configurations(config: dict[str, Any]) -> None:
    """A URL or a service is enough."""
    assert list(validate_client_config(config, "c")) == []


@pytest.mark.parametrize(
    ("config", "field", "message"),
    [
        ({}, "c", "Required value: exactly one of url or service is required"),
        ({"url": "https://h", "service": SERVICE}, "c", "Required value: exactly one of url or service is required"),
        ({"url": "http://h"}, "c.url", "Invalid value: \"http\": 'https' is the only allowed URL scheme"),
        ({"url": "https:///x"}, "c.url", 'Invalid value: "": host must be specified'),
        ({"url": "https://u:p@h"}, "c.url", 'Invalid value: "u:p": user information is not permitted in the URL'),
        ({"url": "https://h/#f"}, "c.url", 'Invalid value: "f": fragments are not permitted in the URL'),
        ({"url": "https://h/?q"}, "c.url", 'Invalid value: "q": query parameters are not permitted in the URL'),
        ({"url": "https://h:x"}, "c.url", 'Required value: url must be a valid URL: parse "https://h:x": invalid port'),
        ({"service": {**SERVICE, "port": 0}}, "c.service.port", "Invalid value: 0: port is not valid"),
        ({"service": {**SERVICE, "path": "/a//b"}}, "c.service.path", 'Invalid value: "/a//b": segment[1] may not be'),
    ],
)
def test_errors(config: dict[str, Any], field: str, message: str) -> None:
    """The messages are kube-apiserver's."""
    (cause,) = validate_client_config(config, "c")
    assert cause.field == field
    assert cause.message.startswith(message)


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ([], "Required value: why"),
        (["v1", "v1"], 'Invalid value: "v1": duplicate version'),
        (["v9"], 'Invalid value: ["v9"]: must include at least one of v1, v1beta1'),
    ],
)
def test_review_versions(versions: list[str], message: str) -> None:
    """At least one version that the server sends is required, each once."""
    (cause,) = validate_review_versions(versions, "c", "why")
    assert cause.message == message
    assert list(validate_review_versions(["v2", "v1"], "c")) == []
