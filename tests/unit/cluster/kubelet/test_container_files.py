"""File systems of simulated containers, with the commands that `kubectl cp` runs."""

from __future__ import annotations

import asyncio
import io
import tarfile
from pathlib import Path

import pytest

from pyctrl._pipes import Pipe
from pyctrl.cluster import ExecProcess
from pyctrl.cluster._kubelet.container_files import with_files
from pyctrl.kinds.core.v1 import Container, Pod
from pyctrl.testing import run_virtual


async def other(process: ExecProcess) -> int:
    """Print that another program runs."""
    await process.stdout.write(b"other")
    return 5


def run(root: Path, *command: str, stdin: bytes = b"", exec_: bool = True) -> tuple[int, bytes, bytes]:
    """Run a command; return its exit code, stdout and stderr."""

    async def main() -> tuple[int, bytes, bytes]:
        streams = Pipe(), Pipe(), Pipe()
        process = ExecProcess(
            pod=Pod(),
            container=Container(name="a"),
            command=list(command),
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
        )
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(_run(with_files(root, other if exec_ else None)(process), streams))
            await streams[0].write(stdin)
            streams[0].close()
            out, err = await streams[1].read_all(), await streams[2].read_all()
        return running.result(), out, err

    return run_virtual(main())


async def _run(running: object, streams: tuple[Pipe, Pipe, Pipe]) -> int:
    code: int | None = await running  # type: ignore[misc]
    streams[1].close()
    streams[2].close()
    return code or 0


def archive(**files: bytes) -> bytes:
    """Return an archive with some files."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", "/"))
            member.size, member.mode = len(content), 0o640
            tar.addfile(member, io.BytesIO(content))
    return data.getvalue()


def names(data: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return sorted(tar.getnames())


def test_files_are_copied_into_a_container(tmp_path: Path) -> None:
    """The archive is unpacked in the directory of the container, with modes and new directories."""
    (tmp_path / "data").mkdir()
    command = ("tar", "--no-same-permissions", "-xmf", "-", "-C", "/data")
    assert run(tmp_path, *command, stdin=archive(a=b"1", sub__b=b"2"))[0] == 5, "not a command of kubectl"
    command = ("tar", "-xmf", "-", "--no-same-owner", "-C", "/data")
    assert run(tmp_path, *command, stdin=archive(a=b"1", sub__b=b"2")) == (0, b"", b"")
    assert (tmp_path / "data/sub/b").read_bytes() == b"2"
    assert (tmp_path / "data/a").stat().st_mode & 0o777 == 0o640


def test_files_are_copied_from_a_container(tmp_path: Path) -> None:
    """The names in the archive are those of the container without the first slash."""
    (tmp_path / "etc/db").mkdir(parents=True)
    (tmp_path / "etc/db/conf").write_text("x")
    code, out, err = run(tmp_path, "tar", "cf", "-", "/etc/db")
    assert (code, names(out)) == (0, ["etc/db", "etc/db/conf"])
    assert err == b"tar: Removing leading `/' from member names\n"
    assert names(run(tmp_path, "tar", "cf", "-", "-C", "/etc", "db/conf")[1]) == ["db/conf"]


def test_missing_files_and_directories(tmp_path: Path) -> None:
    """`tar` fails with its exit code and its message."""
    code, _, err = run(tmp_path, "tar", "cf", "-", "/none")
    assert (code, err.splitlines()[0]) == (2, b"tar: /none: Cannot stat: No such file or directory")
    code, _, err = run(tmp_path, "tar", "-xmf", "-", "-C", "/none", stdin=archive(a=b""))
    assert (code, err) == (2, b"tar: /none: Cannot open: No such file or directory\n")
    assert run(tmp_path, "tar", "-xmf", "-", "-C", "/", stdin=b"x" * 600)[0] == 2


@pytest.mark.parametrize("name", ["../../up", "/abs", "link/in"])
def test_no_file_leaves_the_container(tmp_path: Path, name: str) -> None:
    """Names that lead out of the directory are refused or stay inside, also over links."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "link").symlink_to(outside)
    run(root, "tar", "-xmf", "-", "-C", "/", stdin=archive(**{name.replace("/", "__"): b"x"}))
    assert [*outside.iterdir()] == []
    assert {each.name for each in tmp_path.iterdir()} == {"root", "outside"}
    code = run(root, "test", "-d", "/../outside")[0]
    assert code == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("-d", "/d"), 0), (("-d", "/f"), 1), (("-f", "/f"), 0), (("-e", "/x"), 1), (("-x", "/f"), 1)],
)
def test_kubectl_asks_whether_a_path_is_a_directory(tmp_path: Path, arguments: tuple[str, str], code: int) -> None:
    """`test` answers with its exit code."""
    (tmp_path / "d").mkdir()
    (tmp_path / "f").write_text("")
    assert run(tmp_path, "test", *arguments)[0] == code


def test_other_commands_are_those_of_the_script(tmp_path: Path) -> None:
    """A script may have files and a function; without one no other program exists."""
    assert run(tmp_path, "psql") == (5, b"other", b"")
    code, _, err = run(tmp_path, "psql", exec_=False)
    assert (code, err) == (127, b"psql: not found; the container has tar and test only\n")
