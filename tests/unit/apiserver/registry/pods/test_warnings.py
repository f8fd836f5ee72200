"""Warnings about pods and pod templates."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.warnings import ip_warnings, warnings_of_pod, warnings_of_template


@pytest.mark.parametrize(
    ("spec", "warnings"),
    [
        ({"terminationGracePeriodSeconds": 1}, []),
        (
            {"nodeSelector": {"beta.kubernetes.io/os": "linux"}},
            ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
        ),
        (
            {"terminationGracePeriodSeconds": -1},
            ["spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"],
        ),
        (
            {"containers": [{"name": "c", "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}]},
            ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
        ),
        (
            {"topologySpreadConstraints": [{"topologyKey": "a"}]},
            ["spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod"],
        ),
    ],
)
def test_warnings_of_specs(spec: dict[str, Any], warnings: list[str]) -> None:
    """A warning names the field and the reason."""
    assert list(warnings_of_template({"spec": spec}, "t")) == [f"t.{each}" for each in warnings]


def test_the_name_of_a_pod_should_be_a_hostname() -> None:
    """A pod whose name has a dot has a warning; the same name of a template has none."""
    found = list(warnings_of_pod({"metadata": {"name": "a.b"}, "spec": {}}))
    assert [each.partition(":")[0] for each in found] == ["metadata.name"]


def test_unusual_addresses() -> None:
    """An IPv6 address should be written in its short form."""
    assert list(ip_warnings("2001:db8::1", "ip")) == []
    assert len(list(ip_warnings("2001:db8:0::1", "ip"))) == 1
