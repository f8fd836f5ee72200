"""Manifests on disk: stale, missing and surplus files, and files of users."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli._packaging_flags import PackagingFlags
from pyctrl.errors import CommandFailed
from pyctrl.packaging import ConfigDirectory, Difference, read_settings

HEAD = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
WANTED = {
    "crd/bases/a.yaml": "kind: A\n",
    "crd/kustomization.yaml": f"{HEAD}resources:\n- bases/a.yaml\n",
    "samples/a.yaml": "kind: Sample\n",
}


def write(directory: ConfigDirectory, wanted: dict[str, str]) -> list[str]:
    """Update a directory; return the changes."""
    found = directory.differences(wanted)
    for each in found:
        each.write()
    return [f"{each.verb} {each.path.relative_to(directory.path)}" for each in found]


@pytest.fixture
def directory(tmp_path: Path) -> ConfigDirectory:
    made = ConfigDirectory(tmp_path / "config")
    write(made, WANTED)
    return made


def test_writing_twice_changes_nothing(directory: ConfigDirectory) -> None:
    """Writing again changes nothing."""
    assert directory.differences(WANTED) == []
    assert {name: (directory.path / name).read_text() for name in WANTED} == WANTED


def test_what_is_stale_is_shown(directory: ConfigDirectory) -> None:
    """An edited and a missing file are reported with a diff."""
    (directory.path / "crd/bases/a.yaml").write_text("kind: B\n")
    (directory.path / "samples/a.yaml").unlink()
    changed, missing = directory.differences(WANTED)
    assert changed.unified() == (f"--- {changed.path}\n+++ {changed.path}\n@@ -1 +1 @@\n-kind: B\n+kind: A\n")
    assert missing.unified() == f"--- /dev/null\n+++ {missing.path}\n@@ -0,0 +1 @@\n+kind: Sample\n"


def test_what_nobody_wants_any_more_goes(directory: ConfigDirectory) -> None:
    """Files that the program no longer needs are removed, with their empty directories."""
    done = write(directory, {"rbac/role.yaml": "kind: Role\n"})
    assert done == [
        "updated .pyctrl-manifests",
        "removed crd/bases/a.yaml",
        "removed crd/kustomization.yaml",
        "created rbac/role.yaml",
        "removed samples/a.yaml",
    ]
    assert sorted(each.name for each in directory.path.iterdir()) == [".pyctrl-manifests", "rbac"]


def test_files_of_people_are_left_alone(directory: ConfigDirectory) -> None:
    """Files of users and existing samples are kept."""
    (directory.path / "crd/bases/own.yaml").write_text("kind: Own\n")
    (directory.path / "samples/a.yaml").write_text("kind: Changed\n")
    assert directory.differences({**WANTED, "samples/a.yaml": "kind: New\n"}) == []
    write(directory, {})
    assert (directory.path / "crd/bases/own.yaml").read_text() == "kind: Own\n"


def test_kustomizations_keep_what_people_add(directory: ConfigDirectory) -> None:
    """Patches, comments and resources that users add to a kustomization are kept; only generated entries change."""
    file = directory.path / "crd/kustomization.yaml"
    file.write_text(f"{HEAD}resources:\n- bases/a.yaml\n- own.yaml  # mine\n\npatches:\n- path: size.yaml\n# the end\n")
    assert directory.differences(WANTED) == []
    wanted = {"crd/bases/b.yaml": "kind: B\n", "crd/kustomization.yaml": f"{HEAD}resources:\n- bases/b.yaml\n"}
    write(directory, wanted)
    assert file.read_text() == (
        f"{HEAD}resources:\n- own.yaml  # mine\n- bases/b.yaml\n\npatches:\n- path: size.yaml\n# the end\n"
    )
    assert directory.differences(wanted) == []
    write(directory, {})
    assert "- own.yaml" in file.read_text()


def test_a_directory_leaves_the_kustomization_with_its_files(tmp_path: Path) -> None:
    """Without a ServiceMonitor its directory leaves the kustomization."""
    made = ConfigDirectory(tmp_path)
    default = f"{HEAD}resources:\n- ../crd\n- ../prometheus\n"
    monitor = {
        "prometheus/kustomization.yaml": f"{HEAD}resources:\n- monitor.yaml\n",
        "prometheus/monitor.yaml": "a: 1\n",
    }
    write(made, {"default/kustomization.yaml": default, **monitor})
    write(made, {"default/kustomization.yaml": default.replace("- ../prometheus\n", "")})
    assert (tmp_path / "default/kustomization.yaml").read_text() == f"{HEAD}resources:\n- ../crd\n"
    assert not (tmp_path / "prometheus").exists()


def test_a_file_that_somebody_else_wrote_is_not_replaced(tmp_path: Path) -> None:
    """A file that pyctrl did not write is replaced only with force; the error names it and the next step."""
    (tmp_path / "crd/bases").mkdir(parents=True)
    (tmp_path / "crd/bases/a.yaml").write_text("kind: Theirs\n")
    with pytest.raises(CommandFailed, match=r"a\.yaml exists and was not written by this command.*--force"):
        ConfigDirectory(tmp_path).differences(WANTED)
    found = ConfigDirectory(tmp_path).differences(WANTED, force=True)
    assert Difference(tmp_path / "crd/bases/a.yaml", "kind: Theirs\n", "kind: A\n") in found


def test_parts_leave_the_others_alone(directory: ConfigDirectory) -> None:
    """Writing only the roles keeps the definitions and their entries."""
    wanted = {"rbac/role.yaml": "kind: Role\n"}
    found = directory.differences(wanted, parts=["rbac"])
    assert [each.path.name for each in found] == [".pyctrl-manifests", "role.yaml"]
    for each in found:
        each.write()
    assert directory.differences({**WANTED, **wanted}) == []


def test_settings_are_those_of_the_nearest_project(tmp_path: Path) -> None:
    """The settings come from the nearest pyproject.toml with the table, in the program's directory or above."""
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nversion = "1.2.0"\n[tool.pyctrl]\nprogram = "a.py"\nname = "a"\n'
        'replicas = 2\nlimits = {memory = "1Gi"}\n'
    )
    (tmp_path / "src").mkdir()
    (tmp_path / "src/pyproject.toml").write_text("[tool.other]\n")
    found = read_settings(tmp_path / "src")
    assert (found.program, found.version, found.replicas, found.limits) == ("a.py", "1.2.0", 2, {"memory": "1Gi"})
    assert found.directory == tmp_path / "config"


@pytest.mark.parametrize(
    ("project", "settings", "program", "image"),
    [
        ('version = "1.2.0"', "", None, "shop:1.2.0"),
        ('version = "1.2.0"', 'name = "store"', None, "store:1.2.0"),
        ('version = "1.2.0"', 'image = "example.com/shop:3"', None, "example.com/shop:3"),
        ('version = "1.2.0+local.1"', "", None, "shop:1.2.0_local.1"),
        ('dynamic = ["version"]', "", None, "shop:latest"),
        ('version = "1.2.0"', "", "shop:add_all", "shop:1.2.0"),
        ('version = "1.2.0"', "", "elsewhere", "shop:latest"),
    ],
)
def test_the_image_has_the_version_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: str, settings: str, program: str | None, image: str
) -> None:
    """The image has the version of the project that contains the program, even if the settings omit the program."""
    (tmp_path / "pyproject.toml").write_text(f'[project]\n{project}\n[tool.pyctrl]\nprogram = "shop"\n{settings}\n')
    monkeypatch.chdir(tmp_path)
    assert PackagingFlags().settings(program).named("shop").image == image


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("replica = 2", r"\[tool.pyctrl\] has no setting 'replica'; there are args, "),
        ('replicas = "2"', r"replicas: expected int; got '2'"),
        ('version = "1"', r"\[tool.pyctrl\] has no setting 'version'; there are args, "),
        ('metrics = "tls"', r"metrics: expected one of https, http, off; got 'tls'"),
        ("shards = true", r"shards: expected one of auto, off; got True"),
        ('args = "a"', r"args: expected a list of strings"),
        ("env = [1]", r"env: expected a table of strings"),
        ("env", r"pyproject.toml: "),
    ],
)
def test_a_setting_that_there_is_not_is_refused(tmp_path: Path, line: str, message: str) -> None:
    """An unknown setting is rejected with its location and the expected names."""
    (tmp_path / "pyproject.toml").write_text(f"[tool.pyctrl]\n{line}\n")
    with pytest.raises(CommandFailed, match=message):
        read_settings(tmp_path)
