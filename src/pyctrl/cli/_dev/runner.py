"""Runner of `pyctrl dev`: a session, its server for kubectl, and a live view or a log."""

from __future__ import annotations

import asyncio
import errno
import importlib.util
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from cyclopts import CycloptsError

from pyctrl._log import configure_logging
from pyctrl._tasks import unwrapped
from pyctrl.apiserver import User, serve
from pyctrl.cli._dev.log_lines import LogLines
from pyctrl.cli._kubeconfig_file import check_kubeconfig, server_of, write_kubeconfig
from pyctrl.cli._log_flags import LogFlags
from pyctrl.cli._output import is_terminal
from pyctrl.cli._pod_script import load_pod_script
from pyctrl.cli._program_flags import bind_program_flags
from pyctrl.cli._progress import Progress, progress_line
from pyctrl.cli._signals import run_until_signal
from pyctrl.dev import DevOptions, DevSession, ProgramLogFilter
from pyctrl.errors import CommandFailed
from pyctrl.program import ProgramModule, SetupFunction, Target

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pyctrl.packaging import Settings

__all__ = ["DevRunner"]

ADMIN = User(name="kubernetes-admin", groups=("system:masters",))
LOOPBACK = "127.0.0.1"

NO_SCREEN = "the screen needs `pip install 'pyctrl-runtime[dev]'`; without it, pyctrl dev prints lines"
SCREEN_FAILED = "pyctrl: the screen failed: {error}; the program runs on without it, and Ctrl-C stops it"

RECONCILES = "info,pyctrl.controller=debug"  # log level: a line per reconcile


@dataclass(frozen=True, kw_only=True)
class DevRunner:
    """Runs a development session according to the flags of the command."""

    target: Target
    named: Sequence[str]
    program_flags: Sequence[str]
    apply: Sequence[Path] | None
    rbac: bool
    controllers: bool
    kubelet: bool
    nodes: int
    pod_script: str | None
    port: int
    kubeconfig_out: Path | None
    force: bool
    live: bool | None
    logs: LogFlags

    def main(self) -> int:
        """Run the session until a signal or `q`; return the exit code.

        Raises:
            PyctrlError: the program cannot be loaded, or the cluster cannot be served.
        """
        if "--help" in self.program_flags:
            self._bind(self.target.find())
            return 0
        check_kubeconfig(self._kubeconfig, force=self.force)
        if not self.force and (url := server_of(self._kubeconfig)):
            raise CommandFailed(
                f"{self._kubeconfig} belongs to {url}, which is running: stop the other pyctrl dev, or name another "
                "file with --write-kubeconfig FILE"
            )
        if missing := [str(path) for path in self.apply or () if not path.exists()]:
            raise CommandFailed(f"--apply: no such file: {', '.join(missing)}")
        return asyncio.run(self._until_signalled(is_live=self._is_live))

    @property
    def _is_live(self) -> bool:
        """Whether to show the screen: on a terminal, if textual is installed, which writes to stderr."""
        is_wanted = is_terminal(sys.stdout) and is_terminal(sys.stderr) and sys.stdin.isatty()
        if not (is_wanted if self.live is None else self.live):
            return False
        if not _has_screen():
            if self.live:
                raise CommandFailed(f"--live: {NO_SCREEN}")
            print(f"pyctrl: {NO_SCREEN}", file=sys.stderr)
            return False
        return True

    async def _until_signalled(self, *, is_live: bool) -> int:
        ready = asyncio.Event()
        return await run_until_signal(self.follow(ready, is_live=is_live), is_ready=ready.is_set)

    async def follow(self, ready: asyncio.Event, *, is_live: bool) -> None:
        """Run the session until cancelled, or until the live view is quit."""
        if is_live:
            from pyctrl.cli._dev import screen  # noqa: F401 - before the event loop is watched: it takes a while

        log_lines = LogLines()
        async with self._session(log_lines if is_live else sys.stderr) as (session, lines):
            ready.set()
            if is_live:
                failure = await _show(session, [_from_home(line) for line in lines[1:]], log_lines)
                if failure is None:
                    return
                print(
                    *log_lines.lines,
                    SCREEN_FAILED.format(error=f"{type(failure).__name__}: {failure}"),
                    sep="\n",
                    file=sys.stderr,
                )
                self._configure_logging(sys.stderr)
            print(*lines, sep="\n", flush=True)
            await session.run()

    @asynccontextmanager
    async def _session(self, stream: TextIO) -> AsyncIterator[tuple[DevSession, Sequence[str]]]:
        """Start a session that logs to a stream; return it with the lines that tell how to reach it."""
        self._configure_logging(stream)
        async with AsyncExitStack() as stack:
            with Progress(f"{self.target.name} and its cluster to start", tell=progress_line):
                session = await stack.enter_async_context(DevSession(self.target, self._options))
                url = await stack.enter_async_context(self._served(session))
            write_kubeconfig(self._kubeconfig, url, session.server.issue_token(ADMIN), None, force=self.force)
            yield session, [f"ready {url}", f"export KUBECONFIG={self._kubeconfig}"]

    @property
    def _options(self) -> DevOptions:
        binds = chain([self._bind], repeat(self._bind_again))  # at the start an error is a usage error
        return DevOptions(
            enforce_rights=self.rbac,
            apply=self.apply,
            config=self._config,
            namespaces=self._settings.watch_namespaces if self._is_of_project else (),
            controllers=self.controllers,
            kubelet=self.kubelet,
            nodes=self.nodes,
            pod_script=load_pod_script(self.pod_script),
            bind=lambda setup: next(binds)(setup),  # noqa: PLW0108 (the next one at each call)
        )

    @property
    def _config(self) -> Path | None:
        """The directory of manifests: of the project if this is its program, else beside the program.

        None without a project, or for a program that cannot be found before it is imported.
        """
        if not self._settings.program:
            return None
        return self._settings.directory if self._is_of_project else self._folder / "config"

    @property
    def _is_of_project(self) -> bool:
        """Whether the program is that of the nearest pyproject.toml."""
        settings = self._settings
        return bool(settings.program) and is_program(self.target.place, settings.root, settings.program)

    @cached_property
    def _settings(self) -> Settings:
        """The settings of the program's pyproject.toml."""
        from pyctrl.packaging import read_settings  # here: imports a TOML parser

        return read_settings(self._folder)

    @property
    def _folder(self) -> Path:
        """The directory of the program."""
        place = self.target.place
        return place.folder or place.root.joinpath(*place.module.split(".")[:-1])

    @property
    def _kubeconfig(self) -> Path:
        if self.kubeconfig_out is not None:
            return self.kubeconfig_out
        caches = Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache")
        return caches / "pyctrl" / f"{self.target.name}.kubeconfig"

    def _bind(self, setup: SetupFunction) -> SetupFunction:
        if not self.program_flags:
            return setup
        command = ("dev", *self.named, "--")
        return bind_program_flags(setup, self.target.name, tokens=self.program_flags, command=command) or setup

    def _bind_again(self, setup: SetupFunction) -> SetupFunction:
        """Bind the same flags again. The saved program may no longer have them."""
        try:
            return self._bind(setup)
        except CycloptsError as error:
            raise CommandFailed(f"flags of {self.target.name}: {' '.join(str(error).split())}") from error

    def _configure_logging(self, stream: TextIO) -> None:
        """Log the program's lines; by default including a line per reconcile."""
        options = self.logs.options()
        if options.log_level is None and options.devel is None:
            options = replace(options, log_level=RECONCILES)
        configure_logging(options, stream=stream)
        for handler in logging.getLogger().handlers:
            handler.addFilter(ProgramLogFilter())

    @asynccontextmanager
    async def _served(self, session: DevSession) -> AsyncIterator[str]:
        try:
            async with serve(session.server, LOOPBACK, self.port, user=ADMIN) as url:
                yield url
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            message = f"{LOOPBACK} port {self.port} is in use by another program; --port 0 picks a free one"
            raise CommandFailed(message) from error


async def _show(session: DevSession, lines: Sequence[str], log_lines: LogLines) -> Exception | None:
    """Run a session, and show it until the user quits; return the error that ended the screen, if there was one."""
    from pyctrl.cli._dev.screen import DevScreen  # here: it imports textual

    screen = DevScreen(session, lines, log_lines)
    with unwrapped():
        async with asyncio.TaskGroup() as group:
            following = group.create_task(session.run(), name="dev/follow")
            await screen.run_async()
            following.cancel()
    return screen.failure


def is_program(place: ProgramModule, root: Path, program: str) -> bool:
    """Return whether a module is the program of a project, or belongs to its package.

    Args:
        place: the module.
        root: the directory of the project.
        program: its program, as in pyproject.toml.
    """
    named = program.partition(":")[0]
    if place.folder is None:  # a dotted name
        return f"{place.text}.".startswith(f"{named.replace('/', '.').removesuffix('.py')}.")
    path = (root / named).resolve()
    path = path if path.exists() else root.resolve().joinpath(*named.split("."))
    if place.file is not None:
        return place.file == path
    return place.folder.is_relative_to(path) or place.folder in (path.parent, path)


def _has_screen() -> bool:
    """Return whether textual is installed, which draws the screen."""
    return importlib.util.find_spec("textual") is not None


def _from_home(line: str) -> str:
    """Abbreviate the home directory to `~`, as shells do."""
    return line.replace(f"={os.path.expanduser('~')}/", "=~/")  # noqa: PTH111 (Path's raises where there is no home)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:  # a numeric user without HOME, as in containers
        raise CommandFailed("no home directory for the kubeconfig; name a file with --write-kubeconfig") from error
