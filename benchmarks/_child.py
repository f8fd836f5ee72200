"""A child process with commands as lines of JSON on its input and answers as lines of JSON on its output."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self


class Ended(Exception):
    """Raised when a child ends without an answer."""


class Child:
    """A running child. Leaving the block kills it, because it keeps nothing on disk and may be slow to end.

    Args:
        command: the command to run.
        directory: the working directory; the current one by default.
        environment: the variables; those of this process by default.
        is_loud: whether to show its stderr.
    """

    def __init__(
        self,
        command: list[str],
        *,
        directory: Path | None = None,
        environment: Mapping[str, str] | None = None,
        is_loud: bool = True,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=directory,
            env=None if environment is None else dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if is_loud else subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._process.wait()
        self._output.close()
        with suppress(BrokenPipeError):  # commands that the child has not read
            self._input.close()

    def kill(self) -> None:
        """Kill the child; a pending `answer` raises `Ended`."""
        self._process.kill()

    def tell(self, command: str, **arguments: object) -> None:
        """Send a command. Raises Ended."""
        try:
            self._input.write(json.dumps({"do": command, **arguments}) + "\n")
            self._input.flush()
        except BrokenPipeError as error:
            raise Ended from error

    def answer(self) -> Any:
        """Wait for the next line and return its content. Raises Ended."""
        line = self._output.readline()
        if not line:
            raise Ended
        return json.loads(line)

    def ask(self, command: str, **arguments: object) -> Any:
        """Send a command and return the answer. Raises Ended."""
        self.tell(command, **arguments)
        return self.answer()
