"""Objects of manifest files: invalid documents are reported with file and document."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.apiserver._served import ALONE
from tests.unit.cli.conftest import Run, run

__all__ = ["run"]

pytestmark = pytest.mark.slow("starts a process, which takes up to a second")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b: c", "m.yaml: yaml: mapping values are not allowed in this context"),
        ("a: 1\n", "m.yaml, document 1: the object has no apiVersion"),
        ("{apiVersion: v1, kind: ConfigMap}\n", "m.yaml, document 1: the ConfigMap has no metadata.name"),
        ("---\n- 1\n", "m.yaml, document 1: expected an object with apiVersion and kind; found list"),
        (
            "---\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: A_}}\n",
            "m.yaml, document 2 (ConfigMap default/A_): ",
        ),
        ("{apiVersion: no/v1, kind: Thing, metadata: {name: a}}\n", "m.yaml, document 1 (Thing a): "),
    ],
)
def test_what_cannot_be_loaded_is_told_with_its_place(run: Run, tmp_path: Path, text: str, message: str) -> None:
    """A manifest that is not an object, or that the server refuses, is a one-line error with file and document."""
    file = tmp_path / "m.yaml"
    file.write_text(text)
    told = run("apiserver", *ALONE, "--apply", file)
    assert (told.code, told.out, len(told.err.splitlines())) == (1, "", 1)
    assert message in told.err
