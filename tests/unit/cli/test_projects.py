"""Tests of commands in the directory of a project: its kinds and program are the defaults."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from pyctrl.cli._run.flags import NO_RUN_FLAGS, RunFlags
from pyctrl.packaging import Settings
from tests._documents import page
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_help import COMMANDS, arguments_of

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


#: Commands with an argument PROGRAM, and what else they need to get as far as reading it.
OF_A_PROGRAM = {
    ("build-installer",): ("--check",),
    ("bundle",): ("--check", "--version", "1.0.0"),
    ("deploy",): ("--kubeconfig", "none"),
    ("dev",): ("--", "--no-such-flag"),
    ("helm",): ("--check",),
    ("image", "build"): ("--print",),
    ("manifests",): ("--check",),
    ("rbac", "check"): ("--kubeconfig", "none"),
    ("rbac", "compare"): ("asked.json",),
    ("rbac", "generate"): (),
    ("run",): ("--kubeconfig", "none"),
    ("schema",): ("--check",),
    ("simulate",): ("--budget", "1"),
    ("undeploy",): ("--kubeconfig", "none"),
}
#: A program that is compared with an account only if it is named.
WITHOUT_DEFAULT = {("rbac", "doctor")}


def test_each_command_with_a_program_is_known() -> None:
    """The table above has every command that takes a program."""
    found = {
        command
        for command in COMMANDS
        for argument in arguments_of(command)
        if "PROGRAM" in (argument.parameter.metavar or "") and argument.index is not None
    }
    assert found - WITHOUT_DEFAULT == OF_A_PROGRAM.keys()


@pytest.mark.parametrize("command", OF_A_PROGRAM, ids=" ".join)
def test_each_command_takes_the_program_of_the_project(run: Run, project: Path, command: tuple[str, ...]) -> None:
    """In a project, no command asks for a program; elsewhere, each names the setting."""
    asked = "[tool.pyctrl]" if command != ("rbac", "generate") else "name a program"
    (project / "asked.json").write_text('{"accesses": []}')
    inside = run(*command, *OF_A_PROGRAM[command])
    assert asked not in inside.err
    (project / "pyproject.toml").unlink()
    outside = run(*command, *OF_A_PROGRAM[command])
    assert (outside.code, asked in outside.err) == (1, True)


@pytest.mark.parametrize(
    ("setting", "command", "path"),
    [
        ('chart-dir = "helm/one"', ("helm",), "helm/one/Chart.yaml"),
        ('config-dir = "deploy"', ("manifests",), "deploy/default/kustomization.yaml"),
        ('bundle-dir = "olm"', ("bundle", "--version", "1.0.0"), "olm/metadata/annotations.yaml"),
        ('install-file = "all.yaml"', ("build-installer",), "all.yaml"),
        ('schema-dir = "editor"', ("schema",), "editor/all.json"),
    ],
)
def test_each_directory_of_output_is_a_setting(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, setting: str, command: tuple[str, ...], path: str
) -> None:
    """A directory of pyproject.toml is relative to it, also below it; a flag overrides the setting."""
    with (project / "pyproject.toml").open("a") as file:
        file.write(f'{setting}\nimage = "registry.example/a:1"\n')
    monkeypatch.chdir(project / "tutorial")
    monkeypatch.syspath_prepend(project)
    assert run(*command).code == 0
    assert (project / path).exists()
    flag = ("--output-file", "here.yaml") if command[0] == "build-installer" else ("--output-dir", "here")
    run(*command, *flag)
    assert (project / "tutorial" / flag[1]).exists()


def test_a_run_watches_the_namespaces_of_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a flag, `run` watches the namespaces of pyproject.toml; in a pod, arguments and environment decide."""
    monkeypatch.delenv("WATCH_NAMESPACE", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert NO_RUN_FLAGS.with_project("tutorial").watch_namespace == ("web",)
    assert RunFlags(watch_namespace=("shop",)).with_project("tutorial").watch_namespace == ("shop",)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    assert NO_RUN_FLAGS.with_project("tutorial").watch_namespace == ()


def test_the_page_lists_every_setting() -> None:
    """docs/manifests.md has a row for each key of [tool.pyctrl], and its flags exist."""
    rows = [
        line.split("|") for line in page("manifests.md").partition("| key |")[2].splitlines() if line.startswith("| `")
    ]
    listed = {row[1].strip(" `"): re.findall(r"`(--[a-z-]+)", row[2]) for row in rows if len(row) == 5}
    known = {each.name.replace("_", "-") for each in fields(Settings)} - {"root", "version"}
    assert listed.keys() == known
    flags = {name for command in COMMANDS for argument in arguments_of(command) for name in argument.names}
    assert {flag for found in listed.values() for flag in found} <= flags
