"""Arguments and errors of `pyctrl crd import`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.manifests.test_validator import DEFINITION


@pytest.fixture
def crd(tmp_path: Path) -> Path:
    file = tmp_path / "widgets.yaml"
    file.write_text(DEFINITION)
    return file


def test_what_comes_in(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads from stdin."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DEFINITION.encode())))

    assert "class Widget(" in run("crd", "import", "-").out
    assert run("crd", "import", "--ot", "x").code == 2


def test_what_is_no_definition(run: Run, crd: Path) -> None:
    """An invalid CRD is an error with its position."""
    crd.write_text(DEFINITION.replace("type: integer", "type: int"))

    ran = run("crd", "import", crd)

    assert (ran.code, ran.out) == (1, "")
    assert "widgets.yaml:20:28: spec.validation.openAPIV3Schema.properties[spec].properties[size].type: " in ran.err


def test_a_url_is_for_curl(run: Run) -> None:
    """URLs are not downloaded; the error has a curl command, quoted for the shell."""
    told = run("crd", "import", "https://example.com/crds.yaml?ref=v1&raw")
    assert (told.code, told.out) == (1, "")
    line = "curl --fail --location 'https://example.com/crds.yaml?ref=v1&raw' | pyctrl crd import -"
    assert line in told.err
