"""`pyctrl schema`: files for editors, their check, and how editors find them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli._manifests import PODSET
from tests.unit.cli.conftest import Run

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gauges.example.com}
spec:
  group: example.com
  names: {kind: Gauge, plural: gauges}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(f'[tool.pyctrl]\nprogram = "{PODSET.as_posix()}"\n')
    (tmp_path / "gauges.yaml").write_text(CRD)
    return tmp_path


def test_schemas_are_written_and_checked(run: Run, folder: Path) -> None:
    """The check lists missing files, and succeeds after writing, which shows the settings of editors."""
    before = run("schema", "--check")
    assert (before.code, before.err) == (1, "3 files are out of date; update with: pyctrl schema\n")
    assert "missing schemas/apps.jicki.cn/podset_v1alpha1.json\n" in before.out

    made = run("schema")
    assert made.code == 0
    assert "created schemas/apps.jicki.cn/podset_v1alpha1.json\n" in made.out
    assert '{"yaml.schemas": {"./schemas/all.json": ["config/samples/*.yaml"]}}\n' in made.err
    assert made.err.endswith("# yaml-language-server: $schema=../../schemas/all.json\n")
    assert run("schema", "--check") == type(made)(0, "", "")
    assert json.loads(run("schema", "--check", "-o", "json").out)["upToDate"] is True


def test_other_kinds_are_added(run: Run, folder: Path) -> None:
    """Built-in kinds and CRDs of other projects are added by flags, or by settings for every run."""
    ran = run("schema", "--builtin", "Deployment", "--crd", "gauges.yaml", "--output-dir", "out")
    assert "created out/apps/deployment_v1.json\n" in ran.out
    assert "created out/example.com/gauge_v1.json\n" in ran.out
    settings = 'schema-builtins = ["ConfigMap"]\nschema-crds = ["gauges.yaml"]\nschema-dir = "editor"\n'
    (folder / "pyproject.toml").write_text((folder / "pyproject.toml").read_text() + settings)
    ran = run("schema")
    assert "created editor/configmap_v1.json\n" in ran.out
    assert "created editor/example.com/gauge_v1.json\n" in ran.out
    assert "created editor/apps.jicki.cn/podset_v1alpha1.json\n" in ran.out


def test_a_project_is_not_needed(run: Run, folder: Path) -> None:
    """Without a program, the named kinds have schemas; without any kind, the error says how to name one."""
    (folder / "pyproject.toml").unlink()
    assert "created schemas/example.com/gauge_v1.json\n" in run("schema", "--crd", "gauges.yaml").out
    nothing = run("schema")
    assert nothing.code == 1
    assert nothing.err.startswith("pyctrl: no program given: name FILE.py or MODULE")
    (folder / "empty.yaml").write_text("kind: ConfigMap\napiVersion: v1\n")
    assert run("schema", "--crd", "empty.yaml").err == "pyctrl: no CustomResourceDefinition in empty.yaml\n"
