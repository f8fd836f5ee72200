"""Executables of `pyctrl envtest`: written once, also by several commands, and found by kubectl on the PATH."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyctrl.cli._envtest.binary_assets import write_binary_assets


def test_several_writers_leave_whole_files(tmp_path: Path) -> None:
    """Commands that write the directory at the same time leave each executable whole, and no other file."""
    for round_ in range(5):
        directory = tmp_path / str(round_)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _, at=directory: write_binary_assets(at, {}), range(8)))
        written = {each.name: each.read_text() for each in directory.iterdir()}
        assert sorted(written) == ["etcd", "kube-apiserver", "kubectl"]
        assert all(text.startswith("#!/bin/sh\n") and text.endswith("\n") for text in written.values())


def test_an_unchanged_executable_stays(tmp_path: Path) -> None:
    """A second call does not replace the files; an outdated one is replaced."""
    write_binary_assets(tmp_path, {})
    before = (tmp_path / "etcd").stat().st_ino
    (tmp_path / "kubectl").write_text("outdated")
    write_binary_assets(tmp_path, {})
    assert (tmp_path / "etcd").stat().st_ino == before
    assert (tmp_path / "kubectl").read_text() != "outdated"


def test_kubectl_is_that_of_the_path(tmp_path: Path) -> None:
    """`kubectl` runs the kubectl of the PATH with all arguments, even if the directory is on the PATH itself."""
    assets, own = tmp_path / "assets", tmp_path / "own bin"
    write_binary_assets(assets, {})
    own.mkdir()
    (own / "kubectl").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (own / "kubectl").chmod(0o755)
    path = f"{assets}:{own}:/usr/bin:/bin"
    ran = subprocess.run(
        [assets / "kubectl", "get", "pods -A"], env={"PATH": path}, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "get\npods -A\n"


def test_without_kubectl_the_message_says_what_to_do(tmp_path: Path) -> None:
    """Without a kubectl on the PATH, the error says so in one line."""
    write_binary_assets(tmp_path, {})
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("dirname", "sh"):
        (tools / name).symlink_to(next(Path(d, name) for d in ("/usr/bin", "/bin") if Path(d, name).exists()))
    ran = subprocess.run(
        [tmp_path / "kubectl", "version"], env={"PATH": str(tools)}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 127
    assert (
        ran.stderr == "kubectl: there is no kubectl on the PATH; install it: https://kubernetes.io/docs/tasks/tools/\n"
    )
