"""Files of JSON Schemas: the examples' samples are valid, built-in kinds are found, files of others stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from pyctrl.errors import CommandFailed
from pyctrl.packaging import SCHEMA_INDEX, SchemaDirectory, read_project, read_settings, schema_files

EXAMPLES = Path(__file__).parents[3] / "examples"
WITH_SAMPLES = sorted(each.parents[1].parent.name for each in EXAMPLES.glob("*/config/samples/kustomization.yaml"))

WEB: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]},
}


def samples_of(example: str) -> list[dict[str, Any]]:
    """Return the samples of an example's own kinds."""
    files = sorted((EXAMPLES / example / "config" / "samples").glob("*_*.yaml"))
    found = [each for file in files for each in yaml.safe_load_all(file.read_text())]
    return [each for each in found if "/" in each["apiVersion"]]


@pytest.mark.parametrize("example", WITH_SAMPLES)
async def test_the_samples_of_the_examples_are_valid(example: str) -> None:
    """Each sample of an example is valid, and is not with a typo, a wrong type, or without its name."""
    project = await read_project(read_settings(EXAMPLES / example))
    files = await schema_files(project.definitions)
    for sample in samples_of(example):
        group, version = sample["apiVersion"].split("/")
        schema = json.loads(files[f"{group}/{sample['kind'].lower()}_{version}.json"])
        validator = jsonschema_rs.Draft7Validator(schema)
        assert [each.message for each in validator.iter_errors(sample)] == []
        assert not validator.is_valid({**sample, "metadata": {**sample["metadata"], "nam": "a"}})
        assert not validator.is_valid({**sample, "spec": "a text"})
        assert not validator.is_valid({key: value for key, value in sample.items() if key != "metadata"})


async def test_built_in_kinds_are_found_by_their_names_in_kubectl() -> None:
    """A built-in kind is named by kind, plural or short name; its schema knows its fields."""
    files = await schema_files([], ["svc", "Deployment", "configmaps"])
    assert [*files] == [SCHEMA_INDEX, "apps/deployment_v1.json", "configmap_v1.json", "service_v1.json"]
    validator = jsonschema_rs.Draft7Validator(json.loads(files["service_v1.json"]))
    assert validator.is_valid(WEB)
    for wrong in (
        {"port": "80"},
        {"targetPort": "http"},
        {"port": 80, "protocl": "TCP"},
        {"port": 80, "protocol": "X"},
    ):
        assert not validator.is_valid({**WEB, "spec": {"ports": [wrong]}})
    deployment = json.loads(files["apps/deployment_v1.json"])
    assert "io.k8s.api.core.v1.Container" in deployment["definitions"]


async def test_a_misspelt_built_in_kind_is_corrected() -> None:
    """The error for an unknown kind suggests a similar one, and the flag for kinds of other projects."""
    with pytest.raises(CommandFailed, match=r"no built-in kind 'Deploymnt'; did you mean Deployment\? \(.*--crd\)"):
        await schema_files([], ["Deploymnt"])


async def test_versions_that_are_not_served_have_no_schema() -> None:
    """Each served version of a CRD has a file."""
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [{"name": name, "served": name != "v0", "schema": schema} for name in ("v0", "v1", "v2")]
    crd = {"spec": {"group": "example.com", "names": {"kind": "Gauge"}, "versions": versions}}
    assert [*await schema_files([crd])] == [SCHEMA_INDEX, "example.com/gauge_v1.json", "example.com/gauge_v2.json"]


def test_generated_files_are_updated_and_removed_and_others_stay(tmp_path: Path) -> None:
    """The directory follows the kinds; a file that was not generated is replaced only by force."""
    directory = SchemaDirectory(tmp_path / "schemas")

    def write(wanted: dict[str, str], *, force: bool = False) -> dict[str, str]:
        found = directory.differences(wanted, force=force)
        for each in found:
            each.write()
        return {each.path.name: each.verb for each in found}

    assert write({"all.json": "1", "a/b.json": "1"}) == {
        ".pyctrl-schemas": "created",
        "all.json": "created",
        "b.json": "created",
    }
    assert write({"all.json": "1", "a/b.json": "1"}) == {}
    assert write({"all.json": "2"}) == {".pyctrl-schemas": "updated", "all.json": "updated", "b.json": "removed"}
    (directory.path / "mine.json").write_text("{}")
    assert write({"all.json": "2"}) == {}
    with pytest.raises(CommandFailed, match="mine.json exists and was not written by this command"):
        write({"mine.json": "1"})
    assert write({"mine.json": "1"}, force=True)["mine.json"] == "updated"
