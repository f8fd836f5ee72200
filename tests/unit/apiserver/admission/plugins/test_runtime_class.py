"""The admission plugin RuntimeClass."""

from __future__ import annotations

from tests.unit.apiserver.admission.plugins._admitted import PODS, asking, pod


def test_pods_get_the_overhead_of_their_runtime_class() -> None:
    """A pod of a RuntimeClass gets its overhead and node selector; a missing class is refused."""
    ask = asking()
    scheduling, overhead = {"nodeSelector": {"vm": "yes"}}, {"podFixed": {"cpu": "250m"}}
    made = {"metadata": {"name": "vm"}, "handler": "vm", "overhead": overhead, "scheduling": scheduling}
    ask("POST", "/apis/node.k8s.io/v1/runtimeclasses", made)
    spec = ask("POST", PODS, pod(runtimeClassName="vm"))[1]["spec"]
    assert (spec["overhead"], spec["nodeSelector"]) == ({"cpu": "250m"}, {"vm": "yes"})
    code, status = ask("POST", PODS, pod("q", runtimeClassName="none"))
    assert (code, 'RuntimeClass "none" not found' in status["message"]) == (403, True)
