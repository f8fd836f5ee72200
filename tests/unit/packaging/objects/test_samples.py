"""The samples of a project: what its author keeps is used everywhere, and what is made up never stands beside it."""

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
    """Read a program whose manifests are in a folder, with its samples."""
    project = await of_text(folder, text, root=folder)
    return replace(project, samples=read_samples(project.settings.directory))


async def written(folder: Path, text: str = WIDGETS) -> list[str]:
    """Write the samples, and return the files there are."""
    project = await read(folder, text)
    for each in ConfigDirectory(folder / "config").differences(tree(project, ["samples"]), parts=["samples"]):
        each.write()
    return sorted(each.name for each in (folder / "config" / "samples").iterdir())


def keep(folder: Path, name: str, text: str = MINE) -> Path:
    """Write a file of the author's."""
    file = folder / "config" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


async def test_a_sample_of_the_author_is_the_only_one(tmp_path: Path) -> None:
    """Nothing is made up beside it, whatever its file is called, and the kustomization lists it."""
    keep(tmp_path, "samples/anything.yml")
    assert await written(tmp_path) == ["anything.yml", "kustomization.yaml"]
    listed = yaml.safe_load((tmp_path / "config/samples/kustomization.yaml").read_text())
    assert listed["resources"] == ["anything.yml"]


async def test_a_sample_outside_of_the_directory_counts(tmp_path: Path) -> None:
    """A program of one file has ``config/sample.yaml``, and needs no other."""
    keep(tmp_path, "sample.yaml")
    project = await read(tmp_path)
    assert tree(project, ["samples"]) == {}


async def test_what_was_made_up_goes_when_the_author_keeps_another(tmp_path: Path) -> None:
    """Unless it was edited: then it is the author's, too."""
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
    """Versions share their objects: of one name, the second sample would be applied over the first."""
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
    """What `pyctrl manifests samples -o yaml` prints is what is in the files."""
    keep(tmp_path, "samples/mine.yaml")
    assert [each["kind"] for each in install(await read(tmp_path), ["samples"])] == ["Widget", "Secret"]


async def test_a_bundle_shows_the_samples_of_the_author(tmp_path: Path) -> None:
    """Its examples are the objects of its kinds, without a namespace; of a version without one, one is made up."""
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
