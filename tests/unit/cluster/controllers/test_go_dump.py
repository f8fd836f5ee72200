"""Pod templates as Go prints them."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cluster._controllers.go_dump import dump_for_hash

_NO_DEC = "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>}"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("string", "é x", "(string)é x"),
        ("bool", None, "(bool)false"),
        ("*bool", None, "(*bool)<nil>"),
        ("*int64", 30, "(*int64)30"),
        ("[]string", ["a", "b"], "([]string)[a b]"),
        ("[]string", [], "([]string)<nil>"),
        ("map[string]string", {"b": "2", "a": "1"}, "(map[string]string)map[a:1 b:2]"),
        ("v1.RestartPolicy", "Always", "(v1.RestartPolicy)Always"),
        ("*v1.ExecAction", {"command": ["x"]}, "(*v1.ExecAction){Command:([]string)[x]}"),
        ("intstr.IntOrString", 80, "(intstr.IntOrString){Type:(intstr.Type)0 IntVal:(int32)80 StrVal:(string)}"),
        ("intstr.IntOrString", "web", "(intstr.IntOrString){Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)web}"),
    ],
)
def test_a_value_is_printed_with_its_type(kind: str, value: Any, text: str) -> None:
    """Empty lists and maps are nil, maps are sorted, and items have no types."""
    assert dump_for_hash(kind, value) == text


@pytest.mark.parametrize(
    ("quantity", "value", "scale", "text", "form"),
    [
        ("100m", 100, -3, "100m", "DecimalSI"),
        ("0", 0, 0, "0", "DecimalSI"),
        ("2k", 2, 3, "2k", "DecimalSI"),
        ("1Gi", 1 << 30, 0, "1Gi", "BinarySI"),
        ("8Gi", 8 << 30, 0, "", "BinarySI"),
        ("1e3", 1, 3, "1e3", "DecimalExponent"),
    ],
)
def test_a_quantity_is_printed_with_its_parts(quantity: str, value: int, scale: int, text: str, form: str) -> None:
    """The text is kept where Go keeps it."""
    amount = f"i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}}"
    shown = f"(resource.Quantity){{{amount} {_NO_DEC} s:(string){text} Format:(resource.Format){form}}}"
    assert dump_for_hash("resource.Quantity", quantity) == shown


def test_an_embedded_struct_is_printed_in_its_place() -> None:
    """The source of a volume is a field of its own, as in Go."""
    volume = dump_for_hash("v1.Volume", {"name": "v", "emptyDir": {}})
    empty = "(*v1.EmptyDirVolumeSource){Medium:(v1.StorageMedium) SizeLimit:(*resource.Quantity)<nil>}"
    assert f"VolumeSource:(v1.VolumeSource){{HostPath:(*v1.HostPathVolumeSource)<nil> EmptyDir:{empty} GCE" in volume
