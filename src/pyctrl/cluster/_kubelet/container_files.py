"""File systems of simulated containers: `tar` and `test` over a directory of this machine, as `kubectl cp` needs."""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyctrl.cluster._kubelet.scripts import ExecFunction, ExecProcess

__all__ = ["with_files"]

COMMAND_NOT_FOUND = 127


@dataclass(frozen=True, slots=True)
class _TarCommand:
    """The arguments of `tar` that kubectl uses: ``cf - PATH`` and ``-xmf - -C DIRECTORY``."""

    creates: bool
    directory: str
    paths: tuple[str, ...]


def with_files(root: Path, exec_: ExecFunction | None) -> ExecFunction:
    """Return a function that plays `tar` and `test` over a directory, and runs other commands with a function.

    Archives are held in memory.
    """

    async def run(process: ExecProcess) -> int | None:
        program, *arguments = process.command
        if program == "test":
            return 0 if _test(root, arguments) else 1
        if program == "tar" and (command := _parse(arguments)) is not None:
            return await (_create if command.creates else _extract)(root, command, process)
        if exec_ is not None:
            return await exec_(process)
        await process.stderr.write(f"{program}: not found; the container has tar and test only\n".encode())
        return COMMAND_NOT_FOUND

    return run


def _parse(arguments: Sequence[str]) -> _TarCommand | None:
    """Return the command of some arguments, or None if it is not one of kubectl's."""
    if not arguments:
        return None
    flags, directory, paths, rest = arguments[0].lstrip("-"), "/", list[str](), list(arguments[1:])
    if "f" not in flags or len(set(flags) & set("cx")) != 1 or not rest or rest.pop(0) != "-":
        return None
    while rest:
        argument = rest.pop(0)
        if argument == "-C" and rest:
            directory = rest.pop(0)
        elif not argument.startswith("--"):  # the others are about owners and permissions
            paths.append(argument)
    return _TarCommand("c" in flags, directory, tuple(paths))


def _test(root: Path, arguments: Sequence[str]) -> bool:
    match arguments:
        case ["-d", path]:
            return _inside(root, path).is_dir()
        case ["-f", path]:
            return _inside(root, path).is_file()
        case ["-e", path]:
            return _inside(root, path).exists()
    return False


def _inside(root: Path, path: str) -> Path:
    """Return the place of a container's path on this machine, which is never outside of the root.

    Links in the container are followed on this machine, so that one that leads outside is refused.
    """
    found = root.joinpath(*(part for part in Path(path).parts if part not in ("/", "..")))
    if not found.resolve().is_relative_to(root.resolve()):
        raise PermissionError(f"{path} leads out of the container")
    return found


async def _create(root: Path, command: _TarCommand, process: ExecProcess) -> int:
    archive = io.BytesIO()
    missing = [path for path in command.paths if not _inside(root, _joined(command, path)).exists()]
    for path in missing:
        await process.stderr.write(f"tar: {path}: Cannot stat: No such file or directory\n".encode())
    if any(path.startswith("/") for path in command.paths):
        await process.stderr.write(b"tar: Removing leading `/' from member names\n")
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path in command.paths:
            if path not in missing:
                tar.add(_inside(root, _joined(command, path)), arcname=path.lstrip("/") or ".")
    await process.stdout.write(archive.getvalue())
    if missing:
        await process.stderr.write(b"tar: Exiting with failure status due to previous errors\n")
    return 2 if missing else 0


def _joined(command: _TarCommand, path: str) -> str:
    return path if path.startswith("/") else f"{command.directory}/{path}"


async def _extract(root: Path, command: _TarCommand, process: ExecProcess) -> int:
    archive = io.BytesIO(await process.stdin.read_all())
    directory = _inside(root, command.directory)
    if not directory.is_dir():
        message = f"tar: {command.directory}: Cannot open: No such file or directory\n"
        await process.stderr.write(message.encode())
        return 2
    try:
        with tarfile.open(fileobj=archive, mode="r|") as tar:
            for member in tar:
                _extract_member(tar, member, root, directory)
    except (tarfile.TarError, OSError) as error:
        await process.stderr.write(f"tar: {error}\n".encode())
        return 2
    return 0


def _extract_member(tar: tarfile.TarFile, member: tarfile.TarInfo, root: Path, directory: Path) -> None:
    """Write a file or directory of an archive; links and devices are left out, as kubectl does."""
    target = _inside(directory, member.name)
    if not target.resolve().is_relative_to(root.resolve()):
        raise PermissionError(f"{member.name} leads out of the container")
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
    elif member.isfile() and (content := tar.extractfile(member)) is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as written:
            shutil.copyfileobj(content, written)
        target.chmod(member.mode & 0o777)
