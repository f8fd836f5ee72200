"""Metrics of requests: the labels of kube-apiserver 1.36, and what is counted."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from random import Random

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.testing import run_virtual
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker


@pytest.fixture
def ask() -> Asker:
    return Asker(ApiServer(random=Random(1)))


def scrape(ask: Asker, path: str = "/metrics") -> list[str]:
    """Return the lines of the metrics."""
    answer = ask.answer("GET", path)
    assert answer.status == 200
    assert isinstance(answer.body, bytes)
    return answer.body.decode().splitlines()


def counted(ask: Asker, *, resource: str = "configmaps") -> list[str]:
    """Return the labels and counts of apiserver_request_total for a resource."""
    prefix = "apiserver_request_total"
    return [
        line.removeprefix(prefix).replace('component="apiserver",', "").replace(f'group="",resource="{resource}",', "")
        for line in scrape(ask)
        if line.startswith(prefix) and f'resource="{resource}"' in line
    ]


def test_requests_are_counted_by_verb_scope_and_code(ask: Asker) -> None:
    """Each verb has its label, and the scope is that of kube-apiserver: a create and a named object are `resource`."""
    ask.make("a")
    ask("GET", f"{CONFIGMAPS}/a")
    ask("GET", f"{CONFIGMAPS}/a")
    ask("GET", f"{CONFIGMAPS}/none")
    ask("GET", CONFIGMAPS)
    ask("GET", "/api/v1/configmaps")
    ask("PATCH", f"{CONFIGMAPS}/a", {"data": {"b": "c"}}, headers=MERGE)
    ask("DELETE", f"{CONFIGMAPS}/a", dryRun="All")
    ask("DELETE", CONFIGMAPS)
    assert sorted(counted(ask)) == [
        '{code="200",dry_run="",scope="cluster",subresource="",verb="LIST",version="v1"} 1',
        '{code="200",dry_run="",scope="namespace",subresource="",verb="DELETECOLLECTION",version="v1"} 1',
        '{code="200",dry_run="",scope="namespace",subresource="",verb="LIST",version="v1"} 1',
        '{code="200",dry_run="",scope="resource",subresource="",verb="GET",version="v1"} 2',
        '{code="200",dry_run="",scope="resource",subresource="",verb="PATCH",version="v1"} 1',
        '{code="200",dry_run="All",scope="resource",subresource="",verb="DELETE",version="v1"} 1',
        '{code="201",dry_run="",scope="resource",subresource="",verb="POST",version="v1"} 1',
        '{code="404",dry_run="",scope="resource",subresource="",verb="GET",version="v1"} 1',
    ]


def test_apply_is_a_verb(ask: Asker) -> None:
    """A server-side apply is counted as APPLY, not as PATCH."""
    headers = {"Content-Type": "application/apply-patch+yaml"}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    ask("PATCH", f"{CONFIGMAPS}/a", body, headers=headers, fieldManager="me")
    assert [line for line in counted(ask) if 'verb="APPLY"' in line]


def test_a_client_cannot_make_series(ask: Asker) -> None:
    """Methods, subresources, paths and parameters that do not exist add no series, however many are sent."""
    before = len(scrape(ask))
    for number in range(50):
        ask.answer(f"M{number}", f"{CONFIGMAPS}/a")
        ask.answer(f"M{number}", "/healthz")
        ask.answer("GET", f"{CONFIGMAPS}/a/sub{number}")
        ask.answer("GET", f"/apis/none{number}/v1/things")
        ask.answer("GET", f"/path{number}")
    assert len(scrape(ask)) == before
    ask.answer("GET", CONFIGMAPS)
    once = len(scrape(ask))
    for number in range(50):
        ask.answer("GET", CONFIGMAPS, headers={"Content-Type": f"a/{number}"}, dryRun=str(number), limit=str(number))
    lines = scrape(ask)
    assert len(lines) == once
    assert len({line.rpartition(" ")[0] for line in lines}) == len(lines)


def test_durations_and_sizes(ask: Asker) -> None:
    """A get is in the histograms of durations and response sizes, whose buckets are those of kube-apiserver."""
    ask("GET", "/api/v1/namespaces")
    lines = scrape(ask)
    labels = (
        'component="apiserver",dry_run="",group="",resource="namespaces",scope="cluster",subresource="",verb="LIST"'
    )
    prefix = f'apiserver_request_duration_seconds_bucket{{{labels},version="v1",le="'
    bounds = [line.removeprefix(prefix).partition('"')[0] for line in lines if line.startswith(prefix)]
    assert ",".join(bounds) == ("0.005,0.025,0.05,0.1,0.2,0.4,0.6,0.8,1,1.25,1.5,2,3,4,5,6,8,10,15,20,30,45,60,+Inf")
    sizes = [line for line in lines if line.startswith("apiserver_response_sizes_bucket") and "namespaces" in line]
    assert len(sizes) == 8
    assert sizes[-1].endswith(" 1")


def test_a_watch_is_counted_when_it_ends() -> None:
    """A watch is a long-running request while it runs, and a request with its whole duration afterwards."""

    async def watch() -> None:
        ask = Asker(ApiServer(random=Random(1)))
        response = await ask.server.handle("GET", CONFIGMAPS, [("watch", "1"), ("timeoutSeconds", "7")], {}, b"")
        assert isinstance(response.body, AsyncGenerator)
        ask.make("a")
        await anext(response.body)
        running = 'group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH",version="v1"}'
        assert f'apiserver_longrunning_requests{{component="apiserver",{running} 1' in scrape(ask)
        assert not [line for line in counted(ask) if "WATCH" in line]
        async for _ in response.body:
            pass
        lines = scrape(ask)
        assert f'apiserver_longrunning_requests{{component="apiserver",{running} 0' in lines
        duration = f'apiserver_request_duration_seconds_sum{{component="apiserver",dry_run="",{running} 7'
        assert duration in lines

    run_virtual(watch())


def test_health_checks_are_counted(ask: Asker) -> None:
    """/metrics/slis has the result of each check, and how often it was checked."""
    ask.answer("GET", "/readyz")
    ask.answer("GET", "/readyz")
    ask.answer("GET", "/healthz/ping")
    lines = scrape(ask, "/metrics/slis")
    assert 'kubernetes_healthcheck{name="etcd",type="readyz"} 1' in lines
    assert 'kubernetes_healthchecks_total{name="shutdown",status="success",type="readyz"} 2' in lines
    assert not [line for line in lines if 'type="healthz"' in line]
