"""The document /metrics: its headers, who may read it, and the metrics of storage and process."""

from __future__ import annotations

from random import Random

from prometheus_client.parser import text_string_to_metric_families

from pyctrl.apiserver import ApiServer, User
from tests.unit.apiserver._kit import Asker


def test_prometheus_reads_it() -> None:
    """Prometheus' own parser reads the document, whose content type and families are those of kube-apiserver."""
    ask = Asker(ApiServer(random=Random(1)))
    ask.make("a")
    ask.make("b")
    answer = ask.answer("GET", "/metrics")
    assert isinstance(answer.body, bytes)
    headers = dict(answer.headers)
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
    assert int(headers["Process-Start-Time-Unix"]) > 0
    found = {family.name: family for family in text_string_to_metric_families(answer.body.decode())}
    assert {"apiserver_request", "process_cpu_seconds", "process_open_fds", "kubernetes_build_info"} <= {*found}
    stored = {sample.labels["resource"]: sample.value for sample in found["apiserver_storage_objects"].samples}
    assert stored["configmaps"] >= 2
    assert stored["priorityclasses.scheduling.k8s.io"] == 2
    by_group = {
        (sample.labels["group"], sample.labels["resource"]): sample.value
        for sample in found["apiserver_resource_objects"].samples
    }
    assert by_group["scheduling.k8s.io", "priorityclasses"] == 2


def test_it_needs_a_permission() -> None:
    """With RBAC, a user without permission for the path gets 403, and system:monitoring may read it."""
    users = {"plain": User(name="jane"), "monitor": User(name="prometheus", groups=("system:monitoring",))}
    ask = Asker(ApiServer(random=Random(1), tokens=users))
    for path in ("/metrics", "/metrics/slis"):
        assert ask.answer("GET", path, headers={"Authorization": "Bearer plain"}).status == 403
        assert ask.answer("GET", path, headers={"Authorization": "Bearer monitor"}).status == 200
