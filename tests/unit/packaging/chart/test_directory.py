"""A chart on disk: generated files, the author's changes, and the author's templates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyctrl.errors import CommandFailed
from pyctrl.packaging import Chart, ChartDirectory
from pyctrl.packaging._chart.values import Section, Value

TEXT: dict[str, Any] = {"type": "string"}
IMAGE = Section(
    "image", (Value("repository", "sets", "", TEXT), Value("tag", "", "Else appVersion.", TEXT)), "What runs."
)
REPLICAS = Value("replicas", 1, "How many.", {"type": "integer"})
NEW = Value("digest", "", "Exact.", TEXT)

CHART = Chart(
    name="sets",
    values=(IMAGE, REPLICAS),
    files={"Chart.yaml": "name: sets\nversion: 0.1.0\n", "templates/manager.yaml": "kind: Deployment\n"},
)
LATER = Chart(
    name="sets",
    values=(Section("image", (*IMAGE.values, NEW), "What runs."), REPLICAS, Section("metrics", (NEW,), "At 8443.")),
    files={"Chart.yaml": "name: sets\nversion: 0.2.0\n", "templates/service.yaml": "kind: Service\n"},
)


def write(directory: ChartDirectory, chart: Chart, *, force: bool = False) -> list[str]:
    """Update a directory; return the changes."""
    found = directory.differences(chart, force=force)
    for each in found:
        each.write()
    return [f"{each.verb} {each.path.relative_to(directory.path).as_posix()}" for each in found]


@pytest.fixture
def directory(tmp_path: Path) -> ChartDirectory:
    made = ChartDirectory(tmp_path / "chart")
    write(made, CHART)
    return made


def test_values_are_written_with_what_they_mean(directory: ChartDirectory) -> None:
    """Values have comments with their meaning."""
    assert (directory.path / "values.yaml").read_text() == (
        '# What runs.\nimage:\n  repository: sets\n  # Else appVersion.\n  tag: ""\n\n# How many.\nreplicas: 1\n'
    )
    assert directory.differences(CHART) == []


def test_what_nobody_has_changed_follows_the_program(directory: ChartDirectory) -> None:
    """A chart without edits follows the program: templates, values and version change, and stale files are removed."""
    assert write(directory, LATER) == [
        "updated .pyctrl-chart",
        "updated Chart.yaml",
        "removed templates/manager.yaml",
        "created templates/service.yaml",
        "updated values.schema.json",
        "updated values.yaml",
    ]
    assert directory.differences(LATER) == []


def test_what_its_author_has_changed_stays(directory: ChartDirectory) -> None:
    """Edited lines stay, and new values are inserted in their place with comments."""
    (directory.path / "Chart.yaml").write_text("name: mine\n")
    (directory.path / "values.yaml").write_text(
        "# ours\nimage:\n    repository: mine   # here\n    tag: >-\n      x\n# many\nreplicas: 2\n"
    )
    write(directory, LATER)
    assert (directory.path / "Chart.yaml").read_text() == "name: mine\n"
    assert (directory.path / "values.yaml").read_text() == (
        "# ours\nimage:\n    repository: mine   # here\n    tag: >-\n      x\n"
        '    # Exact.\n    digest: ""\n# many\nreplicas: 2\n\n# At 8443.\nmetrics:\n  # Exact.\n  digest: ""\n'
    )
    assert directory.differences(LATER) == []
    assert write(directory, LATER, force=True) == ["updated .pyctrl-chart", "updated Chart.yaml", "updated values.yaml"]


def test_templates_of_its_author_are_left_alone(directory: ChartDirectory) -> None:
    """The author's templates are kept, and the schema accepts their values but no other unknown ones."""
    own = directory.path / "templates" / "own.yaml"
    own.write_text("kind: Own\n")
    values = directory.path / "values.yaml"
    values.write_text(values.read_text() + "own: {size: 3}\n")
    assert write(directory, CHART) == ["updated .pyctrl-chart", "updated values.schema.json"]
    schema = json.loads((directory.path / "values.schema.json").read_text())
    assert schema["properties"]["own"] == {}
    assert schema["additionalProperties"] is False
    write(directory, LATER)
    assert own.read_text() == "kind: Own\n"
    assert yaml.safe_load(values.read_text())["own"] == {"size": 3}


def test_a_template_that_somebody_else_wrote_is_not_replaced(tmp_path: Path) -> None:
    """A template that pyctrl did not write is replaced only with force; the error names it and the next step."""
    directory = ChartDirectory(tmp_path)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/manager.yaml").write_text("kind: Theirs\n")
    with pytest.raises(CommandFailed, match=r"manager\.yaml exists and was not written by this command.*--force"):
        directory.differences(CHART)
    assert "updated templates/manager.yaml" in write(directory, CHART, force=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("image: {repository: a}\n", r'values\.yaml: image lacks tag: ""; add it there'),
        ("image:\n", r'image lacks repository: "sets", tag: ""'),
        ("- image\n", r"values\.yaml: expected an object"),
        ("image: [\n", r"values\.yaml: while parsing"),
    ],
)
def test_values_that_nothing_can_be_added_to_are_told(directory: ChartDirectory, values: str, message: str) -> None:
    """Values that cannot be extended are an error instead of being rewritten."""
    (directory.path / "values.yaml").write_text(values)
    with pytest.raises(CommandFailed, match=message):
        directory.differences(CHART)


def test_empty_values_get_all_of_them(directory: ChartDirectory) -> None:
    """An empty values file gets all values."""
    (directory.path / "values.yaml").write_text("")
    write(directory, CHART)
    assert yaml.safe_load((directory.path / "values.yaml").read_text()) == {
        "image": {"repository": "sets", "tag": ""},
        "replicas": 1,
    }
