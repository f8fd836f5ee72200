"""The files that `pyctrl init` and `pyctrl create` write; mypy, ruff and pytest check them in tests/generated."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run, run
from tests.unit.scaffold._generated import COMMANDS, GENERATED, files_of

__all__ = ["run"]


@pytest.mark.parametrize("layout", COMMANDS)
def test_the_commands_make_the_files_that_are_checked(
    layout: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands write exactly the files in tests/generated, byte by byte."""
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS[layout]:
        assert run(*command).code == 0
    assert files_of(tmp_path) == files_of(GENERATED / layout)


@pytest.mark.parametrize("layout", COMMANDS)
def test_its_own_settings_find_nothing(layout: str) -> None:
    """Ruff with the project's own settings reports nothing, neither lint nor format."""
    for arguments in (["check"], ["format", "--check"]):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments, "--no-cache"],
            cwd=GENERATED / layout,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.returncode, ran.stdout) == (0, ran.stdout)


def test_twice_is_once(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeating a command reports that nothing changed and changes nothing."""
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS["package"]:
        run(*command)
    before = files_of(tmp_path)
    for command in COMMANDS["package"]:
        told = run(*command)
        assert (told.code, told.out) == (0, "nothing changed\n")
    assert files_of(tmp_path) == before


def test_what_was_edited_is_left_alone(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edited file is named and nothing is written, unless --force is set."""
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS["package"]:
        run(*command)
    file = tmp_path / "shop" / "controllers" / "podset.py"
    made = file.read_text()
    file.write_text(made + "# mine\n")
    told = run(*COMMANDS["package"][1])
    assert told.code == 1
    assert told.err.splitlines()[-1].startswith("pyctrl: shop/controllers/podset.py exists and differs")
    assert file.read_text() == made + "# mine\n"
    assert run(*COMMANDS["package"][1], "--force").out == "wrote shop/controllers/podset.py\n"
    assert file.read_text() == made


def test_a_dry_run_is_a_patch(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dry run prints a patch that git applies, and writes nothing."""
    monkeypatch.chdir(tmp_path)
    told = run("init", "shop", "--dry-run")
    assert (told.code, list(tmp_path.iterdir())) == (0, [])
    (tmp_path / "shop").mkdir()
    subprocess.run(
        ["git", "apply", "--unsafe-paths", "--directory", "shop", "-"], input=told.out, text=True, check=True
    )
    written = files_of(tmp_path / "shop")
    run("init", "elsewhere", "--name", "shop")
    assert written == files_of(tmp_path / "elsewhere")


def test_what_comes_next_is_said(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command prints the next one."""
    monkeypatch.chdir(tmp_path)
    told = run("init", "shop")
    assert told.out.splitlines()[-1] == "wrote shop/tests/test_simulation.py"
    assert told.err == (
        "Next: define a resource with:\n$ cd shop && pyctrl create api --version v1alpha1 --kind NAME\n"
    )
    monkeypatch.chdir(tmp_path / "shop")
    assert run("create", "api", "--version", "v1", "--kind", "Thing").err.endswith("$ pyctrl dev\n")


def test_a_group_that_kubernetes_has(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The group apps becomes apps.example.com, and the command prints so."""
    monkeypatch.chdir(tmp_path)
    run("init", "--name", "shop")
    told = run("create", "api", "--group", "apps", "--version", "v1", "--kind", "PodSet")
    assert told.code == 0
    assert "Kubernetes has a built-in group 'apps'; yours is apps.example.com" in told.err
    assert "note:" not in run("create", "api", "--group", "stable", "--version", "v1", "--kind", "Thing").err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--version", "v1", "--kind", "mySrv"), "'mySrv' is not a kind: expected CamelCase"),
        (("--version", "v1", "--kind", "mySrv"), "a capital letter first; did you mean MySrv?"),
        (("--version", "v1", "--kind", "my-srv"), "did you mean MySrv?"),
        (("--version", "1", "--kind", "MySrv"), "'1' is not a version: expected v1, v1beta1, v1alpha1 or the like"),
        (("--version", "v1", "--kind", "MySrv", "--group", "My_Group"), "'My_Group' is not a group"),
        (("--version", "v1", "--kind", "MySrv", "--plural", "My Srvs"), "'My Srvs' is not a plural"),
        (("--version", "v1", "--kind", "Request"), "would shadow a name of Python or pyctrl"),
        (("--version", "v1", "--kind", "MySrv", "--no-resource"), "shop/api/v1/mysrv.py: create them with --resource"),
    ],
)
def test_names_that_cannot_be(
    arguments: tuple[str, ...], line: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An invalid name fails with one line that names the expected form, and writes nothing."""
    monkeypatch.chdir(tmp_path)
    run("init", "--name", "shop")
    before = files_of(tmp_path)
    told = run("create", "api", *arguments)
    assert (told.code, len(told.err.splitlines())) == (1, 1)
    assert line in told.err
    assert files_of(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("operator",), "a project named 'operator' could not be imported"),
        (("1st",), "'1st' is not a project name"),
        (("shop", "--domain", "Not a domain"), "'Not a domain' is not a domain"),
        (("shop", "--owner", "a\nb"), "is not a valid owner"),
    ],
)
def test_projects_that_cannot_be(
    arguments: tuple[str, ...], line: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An invalid project name is rejected, also `operator`, the name of a standard module."""
    monkeypatch.chdir(tmp_path)
    told = run("init", *arguments)
    assert (told.code, len(told.err.splitlines()), list(tmp_path.iterdir())) == (1, 1, [])
    assert line in told.err


def test_a_project_of_somebody_else(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An existing pyproject.toml is not changed, and a directory without one is rejected as a project."""
    monkeypatch.chdir(tmp_path)
    assert (
        "there is no pyproject.toml; create one with pyctrl init"
        in run("create", "api", "--version", "v1", "--kind", "A").err
    )
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\n')
    told = run("init", "--name", "shop")
    assert (told.code, "as pyctrl init writes it" in told.err) == (1, True)
    assert list(files_of(tmp_path)) == ["pyproject.toml"]


def test_a_readme_that_is_there_stays(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Init keeps an existing README.md and .gitignore."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("mine\n")
    told = run("init", "--name", "shop")
    assert (told.code, "README.md" in told.out) == (0, False)
    assert (tmp_path / "README.md").read_text() == "mine\n"


def test_one_file_has_one_kind(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second kind in a project of one file is rejected."""
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS["single-file"]:
        run(*command)
    told = run("create", "api", "--version", "v1", "--kind", "Other")
    assert (told.code, "greeter.py, tests/test_greeter.py exist and differ" in told.err) == (1, True)


@pytest.mark.parametrize(("answers", "made"), [("y\nn\n", False), ("what\ny\ny\n", True)])
def test_on_a_terminal_it_asks(
    answers: str, made: bool, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal the command asks the questions of operator-sdk, and repeats a question after an invalid answer."""
    monkeypatch.chdir(tmp_path)
    run("init", "--name", "shop")
    master, slave = pty.openpty()
    os.write(master, answers.encode())
    with os.fdopen(slave) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        told = run("create", "api", "--version", "v1", "--kind", "MySrv")
    os.close(master)
    assert told.err.count("Create Resource [y/n]") == answers.count("\n") - 1
    assert "Create Controller [y/n]" in told.err
    assert (tmp_path / "shop" / "controllers" / "mysrv.py").exists() is made


def test_a_deployment_of_an_image_in_one_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project in one file with a Deployment passes ruff's format, and `delete` recognises it as generated."""
    monkeypatch.chdir(tmp_path)
    for command in (
        "init --name cached --layout single-file",
        "create api --version v1 --kind Redis --image redis:7.4",
    ):
        assert run(*command.split()).code == 0
    assert 'IMAGE = "redis:7.4"\n' in (tmp_path / "cached.py").read_text()
    for arguments in (["check"], ["format", "--check"]):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments, "--no-cache"], capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stdout) == (0, ran.stdout)
    told = run("delete", "api", "--version", "v1", "--kind", "Redis")
    assert told.out == (
        "would remove cached.py\nwould remove tests/test_cached.py\nwould remove tests/test_simulation.py\n"
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--kind", "Cached", "--image", "a b"), "'a b' is not an image: expected a name and a tag"),
        (("--kind", "Cached", "--image", "x:1", "--no-namespaced"), "--image cannot be combined with --no-namespaced"),
        (("--kind", "Cached", "--image", "x:1", "--no-controller"), "leave out --no-resource and --no-controller"),
        (("--kind", "Deployment", "--image", "x:1"), "would shadow a name that the controller uses"),
        (("--kind", "Pod", "--image", "x:1"), "would shadow a name that the controller uses"),
    ],
)
def test_what_cannot_have_a_deployment(
    arguments: tuple[str, ...], line: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unsupported --image or kind fails with one line that gives the reason, and writes nothing."""
    monkeypatch.chdir(tmp_path)
    run("init", "--name", "shop")
    before = files_of(tmp_path)
    told = run("create", "api", "--version", "v1", *arguments)
    assert (told.code, line in told.err) == (1, True), told.err
    assert files_of(tmp_path) == before
