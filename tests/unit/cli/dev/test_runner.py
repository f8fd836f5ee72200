"""Runner of `pyctrl dev`: errors at start."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli._dev.runner import DevRunner
from pyctrl.cli._log_flags import NO_LOG_FLAGS
from pyctrl.dev import DevSession
from pyctrl.program import Target
from tests.unit.cli._command import apiserver
from tests.unit.cli.conftest import Run
from tests.unit.cli.dev._program import PROGRAM


@pytest.mark.parametrize(
    ("text", "arguments", "code", "told"),
    [
        ("value =\n", (), 1, "pyctrl: importing {file} failed: SyntaxError: invalid syntax\n  --> {file}:1:8\n"),
        (PROGRAM, (), 1, "pyctrl: setting up nothing failed: ValueError: no red\n  --> {file}:2:5\n"),
        (
            PROGRAM,
            ("--", "--colour", "blue"),
            1,
            "pyctrl: setting up nothing failed: ValueError: no blue\n  --> {file}:2:5\n",
        ),
        (PROGRAM, ("--", "--size", "1"), 2, "pyctrl dev {file} --: Unknown option: --size\n"),
        (PROGRAM, ("--apply", "nowhere.yaml"), 1, "pyctrl: --apply: no such file: nowhere.yaml\n"),
        (PROGRAM, ("--port", "99999"), 2, "pyctrl dev: "),
        (
            PROGRAM,
            ("--write-kubeconfig", "{file}"),
            1,
            "pyctrl: --write-kubeconfig {file}: the file exists and pyctrl did",
        ),
    ],
)
def test_what_cannot_be_followed_is_one_line(
    run: Run, tmp_path: Path, text: str, arguments: tuple[str, ...], code: int, told: str
) -> None:
    """A program that cannot be loaded is an error, and no kubeconfig is written."""
    file = tmp_path / "nothing.py"
    file.write_text(text)
    given = [each.format(file=file) for each in arguments]
    ran = run("dev", file, *(() if "--write-kubeconfig" in given else ("--write-kubeconfig", tmp_path / "k")), *given)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(told.format(file=file))
    assert not (tmp_path / "k").exists()


def test_two_sessions_do_not_share_a_kubeconfig(run: Run, tmp_path: Path) -> None:
    """A kubeconfig is not overwritten while its server runs."""
    file, kubeconfig = tmp_path / "nothing.py", tmp_path / "k"
    file.write_text(PROGRAM)
    arguments = ("dev", file, "--write-kubeconfig", kubeconfig)
    with apiserver("--insecure-http", "--write-kubeconfig", kubeconfig) as served:
        url = served.url
        told = run(*arguments)
        assert told.err.startswith(
            f"pyctrl: {kubeconfig} belongs to {url}, which is running: stop the other pyctrl dev"
        )
    assert "setting up nothing failed" in run(*arguments).err


PROJECT = '[tool.pyctrl]\nprogram = "{program}"\n'


def samples_of(target: str) -> list[str]:
    """Return the files that `pyctrl dev TARGET` applies."""
    runner = runner_of(target)
    return [str(path.resolve().relative_to(Path.cwd())) for path in DevSession(runner.target, runner._options).samples]


def runner_of(target: str) -> DevRunner:
    """Return what `pyctrl dev TARGET` runs."""
    return DevRunner(
        target=Target.parse(target),
        named=(),
        program_flags=(),
        apply=None,
        rbac=True,
        controllers=False,
        kubelet=False,
        nodes=1,
        pod_script=None,
        port=0,
        kubeconfig_out=None,
        force=False,
        live=False,
        logs=NO_LOG_FLAGS,
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory: a project with the program boxes, a package, and a sample; beside it, other programs."""
    for file in ("boxes/__init__.py", "boxes/__main__.py", "boxes/api/__init__.py", "other.py", "below/other.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(PROGRAM)
    for config in ("config", "below/config"):
        (tmp_path / config).mkdir()
        (tmp_path / config / "sample.yaml").write_text("")
    (tmp_path / "below" / "config" / "sample.yaml").rename(tmp_path / "below" / "config" / "kept")
    (tmp_path / "pyproject.toml").write_text(PROJECT.format(program="boxes"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("target", ["boxes", "boxes/__main__.py", "boxes/api", "boxes:add_nothing"])
def test_the_program_of_a_project_gets_its_samples(project: Path, target: str) -> None:
    """The samples of a project are those of its program, however the program is named."""
    assert samples_of(target) == ["config/sample.yaml"]


@pytest.mark.parametrize("target", ["below/other.py", "below/other.py:add_nothing"])
def test_another_program_in_a_project_gets_only_the_samples_beside_it(project: Path, target: str) -> None:
    """A program that is not the project's has the samples beside it, and none of the project."""
    assert samples_of(target) == []
    kept = project / "below" / "config" / "kept"
    kept.rename(kept.with_name("sample.yaml"))
    assert samples_of(target) == ["below/config/sample.yaml"]


def test_the_current_directory_does_not_matter(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A single file elsewhere has no samples, even if the current directory or the one above it has some."""
    (project / "pyproject.toml").unlink()
    assert samples_of("below/other.py") == []
    assert samples_of("other.py") == ["config/sample.yaml"]
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "other.py"
    elsewhere.write_text(PROGRAM)
    assert samples_of(str(elsewhere)) == []


@pytest.mark.parametrize(("program", "target"), [("boxes.main", "boxes.main"), ("boxes", "boxes.main")])
def test_a_program_may_be_named_as_a_module(project: Path, program: str, target: str) -> None:
    """A dotted name is the project's program if it is equal or a module of its package."""
    (project / "pyproject.toml").write_text(PROJECT.format(program=program))
    assert samples_of(target) == ["config/sample.yaml"]
    assert samples_of("elsewhere.main") == []


def test_the_program_of_a_project_watches_its_namespaces(project: Path) -> None:
    """`watch-namespaces` of pyproject.toml restricts the program of the project, and no other program."""
    (project / "pyproject.toml").write_text(PROJECT.format(program="boxes") + 'watch-namespaces = ["blue", "red"]\n')
    assert runner_of("boxes")._options.namespaces == ("blue", "red")
    assert runner_of("other.py")._options.namespaces == ()
