"""Health checks: those of kube-apiserver 1.36.2, with its texts."""

from __future__ import annotations

import msgspec
import pytest

from pyctrl.apiserver import ApiServer, Response

SERVER = ApiServer()


def _get(path: str, *query: tuple[str, str]) -> Response:
    return SERVER.handle_nowait("GET", path, query)


def _text(answer: Response) -> str:
    assert isinstance(answer.body, bytes)
    return answer.body.decode()


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/livez/ping", "/readyz/etcd-readiness"])
def test_a_server_that_answers_is_well(path: str) -> None:
    """Each health endpoint, and the path of each check, responds with ok."""
    assert (_get(path).status, _text(_get(path))) == (200, "ok")


def test_health_lists_its_checks_when_asked() -> None:
    """With verbose the response has a line per check, and lists excluded and unknown checks in alphabetical order."""
    excluded = ("exclude", "etcd"), ("exclude", "nope"), ("exclude", "nix")
    told = _text(_get("/readyz", ("verbose", ""), *excluded)).splitlines()
    assert told[:6] == [
        "[+]ping ok",
        "[+]log ok",
        "[+]etcd excluded: ok",
        "[+]etcd-readiness ok",
        "[+]informer-sync ok",
        "[+]poststarthook/start-apiserver-admission-initializer ok",
    ]
    assert told[-3:] == [
        "[+]shutdown ok",
        'warn: some health checks cannot be excluded: no matches for "nix","nope"',
        "readyz check passed",
    ]


@pytest.mark.parametrize(("kind", "count"), [("healthz", 34), ("livez", 34), ("readyz", 36)])
def test_the_checks_are_those_of_kube_apiserver(kind: str, count: int) -> None:
    """Each endpoint has as many checks as kube-apiserver 1.36.2, and a path for each, which `/` lists."""
    lines = _text(_get(f"/{kind}", ("verbose", ""))).splitlines()[:-1]
    names = [line.removeprefix("[+]").removesuffix(" ok") for line in lines]
    assert len(names) == count
    assert {f"/{kind}/{name}" for name in names} <= {*msgspec.json.decode(_text(_get("/")))["paths"]}
    assert {_text(_get(f"/{kind}/{name}")) for name in names} == {"ok"}


def test_a_check_that_is_not_there_is_no_page() -> None:
    """An unknown check is 404, as in kube-apiserver."""
    assert (_get("/livez/nope").status, _text(_get("/livez/nope"))) == (404, "404 page not found\n")
