"""Tests of commands in the directory of a project: its kinds and program are the defaults."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.unit.cli.conftest import Run

KIND = '''\
from pyctrl import CustomResource, Model, Reconciler, Request
from pyctrl.kinds.core.v1 import Pod


class CronJobSpec(Model):
    schedule: str


class CronJob(CustomResource[CronJobSpec], group="batch.tutorial.kubebuilder.io", version="v1", short_names=("tcj",)):
    """A job of the tutorial."""


class CronJobReconciler(Reconciler[CronJob]):
    owns = (Pod,)

    async def reconcile(self, request: Request) -> None: ...
'''
MAIN = """\
from pyctrl.program import setup_package

import tutorial


def add_tutorial(manager):
    setup_package(manager, tutorial)
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imports_as_before: None) -> Path:
    """A new project in the current directory, without files in config/."""
    package = tmp_path / "tutorial"
    (package / "api").mkdir(parents=True)
    for name, text in {"__init__": "", "__main__": MAIN, "api/__init__": "", "api/cronjob": KIND}.items():
        (package / f"{name}.py").write_text(text)
    (tmp_path / "pyproject.toml").write_text('[tool.pyctrl]\nprogram = "tutorial"\nwatch-namespaces = ["web"]\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        "cronjobs.batch.tutorial.kubebuilder.io",
        "cronjob.batch.tutorial.kubebuilder.io",
        "CronJob.batch.tutorial.kubebuilder.io",
        "cronjobs.v1.batch.tutorial.kubebuilder.io",
        "tcj",
        "tcj.batch.tutorial.kubebuilder.io",
    ],
)
def test_a_kind_of_the_project_is_explained_by_any_of_its_names(run: Run, name: str) -> None:
    """A kind is found by each of its kubectl names, also if its group begins with the name of another one."""
    ran = run("explain", f"{name}.spec.schedule")
    assert (ran.code, ran.err) == (0, "")
    assert "VERSION:  batch.tutorial.kubebuilder.io/v1\nFIELD:    spec.schedule <string> required\n" in ran.out


def test_a_name_of_several_groups_is_the_built_in_one(run: Run) -> None:
    """For a name of several groups the built-in kind is shown, as in kubectl, with a note about the other."""
    ran = run("explain", "cronjobs")
    assert "VERSION:  batch/v1\n" in ran.out
    assert ran.err == "note: cronjobs.batch.tutorial.kubebuilder.io has the same name\n"
    assert "VERSION:  batch/v1\nFIELD:    spec.schedule" in run("explain", "cronjobs.batch.spec.schedule").out


def test_classes_are_newer_than_files(run: Run, project: Path) -> None:
    """Classes take precedence over config/crd/bases, which may be older."""
    run("manifests", "crd")
    bases = project / "config/crd/bases/batch.tutorial.kubebuilder.io_cronjobs.yaml"
    bases.write_text(bases.read_text().replace("schedule", "plan"))
    assert "spec.schedule" in run("explain", "tcj.spec.schedule").out


def test_a_project_that_cannot_be_loaded_hides_no_built_in_kind(run: Run, project: Path) -> None:
    """If a project cannot be loaded, its kinds are an error, and other kinds are shown with a warning."""
    (project / "tutorial" / "api" / "broken.py").write_text("x = y\n")
    ran = run("explain", "pods")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "KIND:     Pod (pods, po)")
    assert ran.err.startswith(
        "warning: the classes of this project cannot be loaded: importing tutorial.api.broken failed"
    )
    ran = run("explain", "tcj")
    assert (ran.code, ran.out) == (1, "")
    assert "--> tutorial/api/broken.py:1:5\n" in ran.err


@pytest.mark.parametrize("new", [(), (".",), ("tutorial",)])
def test_definitions_are_compared_with_the_project(run: Run, project: Path, new: tuple[str, ...]) -> None:
    """A project is given as directory or package, and is the current directory by default."""
    run("manifests", "crd")
    assert run("crd", "diff", "config/crd/bases", *new).out == "nothing changed\n"
    (project / "config/crd/bases/batch.tutorial.kubebuilder.io_cronjobs.yaml").rename("released.yaml")
    released = Path("released.yaml")
    released.write_text(released.read_text().replace("schedule", "plan"))
    ran = run("crd", "diff", "released.yaml", *new)
    assert ran.code == 1
    assert "breaking  v1 spec.plan" in ran.out


def test_objects_are_validated_with_the_classes_of_the_project(run: Run, project: Path) -> None:
    """Objects are validated with the classes of the project, without files in config/crd/bases."""
    (project / "mine.yaml").write_text(
        "apiVersion: batch.tutorial.kubebuilder.io/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {schedule: 1}\n"
    )
    ran = run("validate", "mine.yaml")
    assert ran.code == 1
    assert "spec.schedule: Invalid value" in ran.out


def test_rights_are_those_of_the_program_of_the_project(run: Run, project: Path) -> None:
    """Permissions are for the namespaces of the project's settings; a flag overrides them."""
    roles = list(yaml.safe_load_all(run("rbac", "generate").out))
    assert [(each["kind"], each["metadata"].get("namespace")) for each in roles] == [("Role", "web")]
    roles = list(yaml.safe_load_all(run("rbac", "generate", "tutorial", "--watch-namespace", "shop").out))
    assert [(each["kind"], each["metadata"].get("namespace")) for each in roles] == [("Role", "shop")]
    (project / "asked.json").write_text("[]")
    assert run("rbac", "compare", "asked.json").err == run("rbac", "compare", "tutorial", "asked.json").err


def test_a_command_without_a_program_says_where_one_is_named(run: Run, project: Path) -> None:
    """Outside a project, a command without a program fails with the argument or the setting to use."""
    (project / "pyproject.toml").unlink()
    assert "[tool.pyctrl]" in run("rbac", "check").err
    assert "name a program" in run("rbac", "generate").err
    assert "[tool.pyctrl]" in run("crd", "diff", "tutorial").err
    assert "no kind 'tcj'" in run("explain", "tcj").err


@pytest.mark.parametrize(
    ("arguments", "same"),
    [
        (("help",), ("--help",)),
        (("help", "rbac", "generate"), ("rbac", "generate", "--help")),
        (("version",), ("--version",)),
    ],
)
def test_help_and_version_are_commands_too(run: Run, arguments: tuple[str, ...], same: tuple[str, ...]) -> None:
    """`help` and `version` print the same as the flags."""
    assert run(*arguments) == run(*same)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--verson",), "pyctrl: Unknown option: --verson. Did you mean --version?\n"),
        (("rbac", "--hepl"), "pyctrl rbac: Unknown option: --hepl. Did you mean --help?\n"),
        (("--tracebak=1",), "pyctrl: Unknown option: --tracebak=1. Did you mean --traceback?\n"),
        (("help", "nope"), 'pyctrl: Unknown command "nope".'),
    ],
)
def test_a_misspelt_option_is_no_command(run: Run, arguments: tuple[str, ...], said: str) -> None:
    """The error for an unknown option suggests a similar name."""
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(said)
