"""Tests of the runner of `pyctrl run`: address and certificate of the metrics endpoint."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from pyctrl.cli._run.flags import RunFlags
from pyctrl.program._runner import metrics_address, metrics_certificate


def test_metrics_are_served_where_they_can_be(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Metrics are served at :8080, or not at all without prometheus_client; an address of a flag is always used."""
    assert metrics_address(RunFlags()) == ":8080"
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    caplog.set_level("INFO")
    assert metrics_address(RunFlags()) is None
    assert caplog.messages == ["Metrics are not served: that needs pip install 'pyctrl-runtime[metrics]'"]
    assert metrics_address(RunFlags(metrics_bind_address=":9")) == ":9"


def test_secure_metrics_without_a_certificate_have_one_made(tmp_path: Path) -> None:
    """A temporary certificate exists while the program runs; a given directory is used unchanged."""
    with metrics_certificate(RunFlags(metrics_secure=True)) as made:
        assert made is not None
        assert sorted(file.name for file in made.iterdir()) == ["tls.crt", "tls.key"]
    assert not made.exists()
    with metrics_certificate(RunFlags(metrics_cert_dir=tmp_path)) as named:
        assert named == tmp_path
    with metrics_certificate(RunFlags()) as none:
        assert none is None
