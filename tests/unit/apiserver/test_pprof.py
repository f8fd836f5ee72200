"""The pages below `/debug/pprof/`."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ApiServer, Response


async def get(path: str) -> tuple[Response, str]:
    """Return the response to a GET, and its body."""
    response = await ApiServer().handle("GET", path, [], {}, b"")
    assert isinstance(response.body, bytes)
    return response, response.body.decode()


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/debug/pprof/", 200, "<title>/debug/pprof/</title>"),
        ("/debug/pprof/goroutine", 200, "goroutine profile: total "),
        ("/debug/pprof/symbol", 200, "num_symbols: 0"),
        ("/debug/pprof/cmdline", 404, "Unknown profile\n"),
        ("/debug/pprofx", 404, "404 page not found"),
    ],
)
@pytest.mark.virtual_time
async def test_pages_have_the_status_of_kube_apiserver(path: str, status: int, text: str) -> None:
    """A monitor that asks for a page gets it, or 404 as from kube-apiserver."""
    response, body = await get(path)
    assert (response.status, text in body) == (status, True)


@pytest.mark.virtual_time
async def test_the_index_has_one_address() -> None:
    """A browser is sent to the index."""
    response, _ = await get("/debug/pprof")
    assert (response.status, dict(response.headers)["Location"]) == (302, "/debug/pprof/")


@pytest.mark.virtual_time
async def test_tasks_are_listed_by_their_coroutine() -> None:
    """An administrator sees what the tasks of the server run."""
    _, body = await get("/debug/pprof/goroutine")
    assert "1 @ test_tasks_are_listed_by_their_coroutine" in body
