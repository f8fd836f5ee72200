"""Read the steps of a page with commands and outputs, run them in order, and compare the outputs.

In blocks of the language ``console`` a line that begins with ``$`` is a command, and its output follows, as does the
line after ``Next:``. A block without such a line is the current screen of ``pyctrl dev``. A block with a
``title="PATH"`` is a file, whole or as a ``diff``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.integration._terminals import PATIENCE, Shell, Terminal, terminal

__all__ = ["Step", "Walk", "comparable", "steps_of"]

DEV = "pyctrl dev"  # keeps running in its own terminal
READS = ("kubectl get ",)  # repeated until its output is as expected, as a person would
EVERY = 0.2  # seconds
SETTLED = 3.0  # seconds without a change, after which an unexpected screen is recorded

#: Output that differs between runs, and its replacement for comparison.
VARIES = (
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"in \d+\.\d+s", "in SECONDS"),  # pytest's duration
    # Errors on the screen of pyctrl dev: when, how often, how long it took, and when it is retried.
    (r"  (?:now|\d+ [smhd] ago)(?:  ×\d+)?$", "  AGO"),
    (r"after <?[\d.]+ m?s, retry(?:ing| in [\d.]+ (?:ms|[smh]))$", "after DURATION, retry"),
    (r"^(diff --git|index|---|\+\+\+) .*\n", ""),  # the head of a patch has paths of the machine
)
#: Columns of tables with times and counts.
COUNTS = frozenset(
    (
        *("AGE", "AGO", "LAST RUN", "RESULT", "COUNT"),
        *("RECONCILES", "PER SECOND", "MEAN", "ERRORS", "QUEUED", "DELAYED", "CAUSES"),
    )
)


@dataclass(frozen=True, slots=True)
class Step:
    """A command to type, a screen to see or a file to edit.

    Attributes:
        what: the command; "" for the screen of the terminal; or the path of a file.
        text: the output, the screen, or the contents of the file.
        language: the language of the block.
        span: the position of ``text`` in the page.
    """

    what: str
    text: str
    language: str
    span: tuple[int, int]


def steps_of(page: str) -> list[Step]:
    """Read a page."""
    found = []
    for block in re.finditer(r"^```(\w+)(?: title=\"(.*?)\")?\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if block[2]:
            found.append(Step(block[2], block[3], block[1], block.span(3)))
        elif block[1] == "console":
            at = block.start(3)
            for part in re.finditer(r"(?:^\$ (.*)\n)?((?:^(?!\$ )(?:Next: .*\n)?.*\n)*)", block[3], re.MULTILINE):
                if part[0] or not block[3]:
                    found.append(Step(part[1] or "", part[2], block[1], (at + part.start(2), at + part.end(2))))
    return found


def comparable(text: str) -> str:
    """Remove from an output what differs between runs."""
    for pattern, instead in VARIES:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    told, columns = [], list[tuple[str, int, int | None]]()
    for line in text.rstrip().split("\n"):
        titles = list(re.finditer(r"\S+(?: \S+)*", line))
        if len(titles) > 1 and line == line.upper() and COUNTS.intersection(title[0] for title in titles):
            ends = [*(title.start() for title in titles[1:]), None]
            columns = [(title[0], title.start(), end) for title, end in zip(titles, ends, strict=True)]
        if not line.strip():
            columns = []
        cells = [line[start:end].strip() for name, start, end in columns if name not in COUNTS]
        told.append("  ".join(cells) if columns else line.rstrip())
    return "\n".join(told)


class Walk:
    """Runs steps, and yields the result of each."""

    def __init__(self, shell: Shell, *, is_recording: bool = False) -> None:
        self._shell = shell
        self._is_recording = is_recording
        self._terminal: Terminal | None = None

    async def outcomes(self, steps: list[Step]) -> AsyncGenerator[tuple[Step, str], None]:
        """Run steps in order; yield each with its output, or the contents of the file."""
        async with AsyncExitStack() as stack:
            for step in steps:
                if step.language == "console":
                    yield step, await self._see(step, stack)
                else:
                    await self._edit(step)
                    yield step, step.text

    async def _see(self, step: Step, stack: AsyncExitStack) -> str:
        if step.what == DEV:
            opened = terminal(DEV, await self._shell.environment())
            self._terminal = await stack.enter_async_context(opened)
        if step.what.startswith(READS) or step.what in {"", DEV}:
            return await self._look(step)
        return await self._shell.run(step.what)

    async def _look(self, step: Step) -> str:
        """Poll until the expected output appears, a recorded one stops changing, or the time is up."""
        loop = asyncio.get_running_loop()
        until, changed, seen = loop.time() + PATIENCE, loop.time(), ""
        while loop.time() < until:
            before, seen = seen, await self._glance(step)
            if seen.strip() and comparable(seen) == comparable(step.text):
                break
            if comparable(seen) != comparable(before):
                changed = loop.time()
            if self._is_recording and seen.strip() and loop.time() > changed + SETTLED:
                break
            await asyncio.sleep(EVERY)
        return seen

    async def _glance(self, step: Step) -> str:
        if step.what not in {"", DEV}:
            return await self._shell.run(step.what)
        assert self._terminal is not None, f"before {DEV} there is nothing to be seen"
        return self._terminal.screen + "\n"

    async def _edit(self, step: Step) -> None:
        file = Path((await self._shell.run("pwd")).strip(), step.what)
        text = step.text if step.language != "diff" else patched(file.read_text(), step.text)
        file.parent.mkdir(parents=True, exist_ok=True)
        written = file.with_name(f".{file.name}~")
        written.write_text(text)
        written.replace(file)  # like an editor's save: readers never see half a file


def patched(text: str, patch: str) -> str:
    """Replace the old lines of a patch (``-`` and blank) by the new ones (``+`` and blank)."""
    lines = [(line[:1] or " ", line[1:]) for line in patch.splitlines()]
    before = "".join(f"{line}\n" for sign, line in lines if sign != "+")
    after = "".join(f"{line}\n" for sign, line in lines if sign != "-")
    assert text.count(before) == 1, f"the patch fits {text.count(before)} times:\n{patch}"
    return text.replace(before, after)
