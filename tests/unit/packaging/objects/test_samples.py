"""Samples of a project: the author's samples replace generated ones everywhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import yaml

from pyctrl.packaging import ConfigDirectory, Project, Release, bundle, install, read_publication, release, tree
from pyctrl.program import read_samples
from tests.unit.packaging._programs import CONVERSION, WIDGETS, of_text

MINE = """\
apiVersion: example.com/v1
kind: Widget
metadata: {name: mine, namespace: prod}
spec: {size: 4, colour: blue, name: box-7, schedule: "* * * * *", parts: [a]}
---
apiVersion: v1
kind: Secret
metadata: {name: password}
"""
GENERATED = "samples/example.com_v1_widget.yaml"


async def read(folder: Path, text: str = WIDGETS) -> Project:
    """Read a program with its samples from a folder of manifests."""
    project = await of_text(folder, text, root=folder)
    return replace(project, samples=read_samples(project.settings.directory))


async def written(folder: Path, text: str = WIDGETS) -> list[str]:
    """Write the samples, and return the files on disk."""
    project = await read(folder, text)
    for each in ConfigDirectory(folder / "config").differences(tree(project, ["samples"]), parts=["samples"]):
        each.write()
    return sorted(each.name for each in (folder / "config" / "samples").iterdir())


def keep(folder: Path, name: str, text: str = MINE) -> Path:
    """Write a file of the author."""
    file = folder / "config" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


async def test_a_sample_of_the_author_is_the_only_one(tmp_path: Path) -> None:
    """With a sample of the author, in a file of any name, none is generated, and the kustomization lists the file."""
    keep(tmp_path, "samples/anything.yml")
    assert await written(tmp_path) == ["anything.yml", "kustomization.yaml"]
    listed = yaml.safe_load((tmp_path / "config/samples/kustomization.yaml").read_text())
    assert listed["resources"] == ["anything.yml"]


async def test_a_sample_outside_of_the_directory_counts(tmp_path: Path) -> None:
    """``config/sample.yaml`` of a program of one file counts as its sample."""
    keep(tmp_path, "sample.yaml")
    project = await read(tmp_path)
    assert tree(project, ["samples"]) == {}


async def test_what_was_made_up_goes_when_the_author_keeps_another(tmp_path: Path) -> None:
    """A generated sample is removed once the author adds another, unless the author edited it."""
    assert await written(tmp_path) == ["example.com_v1_widget.yaml", "kustomization.yaml"]
    keep(tmp_path, "samples/mine.yaml")
    assert await written(tmp_path) == ["kustomization.yaml", "mine.yaml"]
    (tmp_path / "config/samples/mine.yaml").unlink()
    assert await written(tmp_path) == ["example.com_v1_widget.yaml", "kustomization.yaml"]
    listed = yaml.safe_load((tmp_path / "config/samples/kustomization.yaml").read_text())
    assert listed["resources"] == ["example.com_v1_widget.yaml"]
    made = tmp_path / "config" / GENERATED
    made.write_text(made.read_text().replace("size: 4", "size: 6"))
    keep(tmp_path, "samples/mine.yaml")
    assert await written(tmp_path) == ["example.com_v1_widget.yaml", "kustomization.yaml", "mine.yaml"]
    assert "size: 6" in made.read_text()


async def test_samples_of_two_versions_are_two_objects(tmp_path: Path) -> None:
    """Samples of two versions have different names, because versions share their objects."""
    project = await read(tmp_path, WIDGETS + CONVERSION)
    made = install(project, ["samples"])
    assert sorted(each["metadata"]["name"] for each in made) == ["widget-sample", "widget-v1beta1-sample"]
    keep(
        tmp_path,
        "samples/old.yaml",
        MINE.replace("/v1\n", "/v1beta1\n", 1).replace("name: mine", "name: widget-sample"),
    )
    project = await read(tmp_path, WIDGETS + CONVERSION)
    assert [each["metadata"]["name"] for each in install(project, ["samples"])] == [
        "widget-sample",
        "password",
        "widget-v1-sample",
    ]


async def test_printed_samples_are_those_of_the_author(tmp_path: Path) -> None:
    """`pyctrl manifests samples -o yaml` prints the samples of the files."""
    keep(tmp_path, "samples/mine.yaml")
    assert [each["kind"] for each in install(await read(tmp_path), ["samples"])] == ["Widget", "Secret"]


async def test_a_bundle_shows_the_samples_of_the_author(tmp_path: Path) -> None:
    """A bundle shows the author's objects without a namespace, and generates an example for a version without one."""
    keep(tmp_path, "samples/mine.yaml")
    project = await read(tmp_path, WIDGETS + CONVERSION)
    publication = read_publication(tmp_path)
    texts = bundle(project, publication, release(publication, Release(version="0.1.0"), name=project.name))
    text = next(text for path, text in texts.items() if path.endswith("clusterserviceversion.yaml"))
    found = json.loads(yaml.safe_load(text)["metadata"]["annotations"]["alm-examples"])
    assert [(each["apiVersion"], each["metadata"]) for each in found] == [
        ("example.com/v1", {"name": "mine"}),
        ("example.com/v1beta1", {"name": "widget-v1beta1-sample"}),
    ]
    assert found[0]["spec"]["colour"] == "blue"
