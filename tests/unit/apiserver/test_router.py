"""Routing: paths, methods and namespaces that are not served."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ApiServer
from tests.unit.apiserver._kit import CONFIGMAPS, Asker


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
        ("GET", "//api/v1", 404),
        ("HEAD", "/openid/v1/jwks", 405),
    ],
)
def test_what_is_not_served(ask: Asker, method: str, path: str, code: int) -> None:
    """A path that does not exist is 404, an unsupported method is 405."""
    assert ask.answer(method, path).status == code


def test_an_object_in_a_namespace_is_not_found_without_it(ask: Asker) -> None:
    """Without a namespace only collections exist: an object is 404, and POST is 405."""
    assert ask("GET", "/api/v1/configmaps/a")[0] == 404
    assert ask("POST", "/api/v1/configmaps", {})[0] == 405


def test_a_stream_has_no_dry_run() -> None:
    """A dry run of a command in a container is refused before the pod is looked up."""
    path = "/api/v1/namespaces/default/pods/p/exec"
    assert ApiServer().handle_nowait("POST", path, [("dryRun", "All")]).status == 400
    assert ApiServer().handle_nowait("POST", path).status == 404
