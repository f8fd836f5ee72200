"""Arguments of `pyctrl deploy` and `pyctrl undeploy`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pyctrl.cli._deploy import runner
from tests.unit.cli.conftest import Run


def test_data_is_lost_with_a_flag_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """CRDs and their versions are kept unless flags allow the loss; the default wait is two minutes."""
    calls: list[dict[str, Any]] = []

    def record(program: str | None, *_: object, **options: Any) -> int:
        calls.append({"program": program, **options})
        return 0

    monkeypatch.setattr(runner, "deploy_program", record)
    monkeypatch.setattr(runner, "undeploy_program", record)
    run("deploy", "podset.py")
    run("deploy", "--wait", "0", "--allow-crd-loss", "-o", "json")
    run("undeploy", "podset.py")
    run("undeploy", "podset.py", "--delete-crds")
    assert calls == [
        {"program": "podset.py", "wait": timedelta(minutes=2), "allow_crd_loss": False, "output": "text"},
        {"program": None, "wait": timedelta(0), "allow_crd_loss": True, "output": "json"},
        {"program": "podset.py", "delete_crds": False, "output": "text"},
        {"program": "podset.py", "delete_crds": True, "output": "text"},
    ]
