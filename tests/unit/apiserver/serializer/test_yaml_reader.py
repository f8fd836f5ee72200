"""YAML as go-yaml reads it."""

from __future__ import annotations

from pyctrl.apiserver._serializer.yaml_reader import read_yaml
from tests.unit.apiserver._kit import CONFIGMAPS, Asker


def test_yaml_bodies_are_read_as_go_reads_them(ask: Asker) -> None:
    """A YAML body creates the same object as JSON."""
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  when: 2001-01-01\n"
    code, made = ask("POST", CONFIGMAPS, body, headers={"Content-Type": "application/yaml"})
    assert (code, made["data"]) == (201, {"when": "2001-01-01"})


def test_yaml_scalars_are_go_yamls() -> None:
    """y and n are booleans, also as keys; times, 1:30 and dates are strings; 1e3 is a number."""
    read = read_yaml(b"{a: y, n: 1, t: 1:30, d: 2001-01-01, e: 1e3, o: 0o7, h: 0x1f, s: '5', u: ~}", [])
    assert read == {
        "a": True, "false": 1, "t": "1:30", "d": "2001-01-01", "e": 1000, "o": "0o7", "h": 31, "s": "5", "u": None
    }  # fmt: skip
