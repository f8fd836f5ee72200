"""A page of commands with their output, as steps: read, carried out from top to bottom, and compared.

In blocks of the language ``console`` a line that begins with ``$`` is typed, and what follows is its output, as is the
line after ``Next:``. A block without such a line is what the terminal of ``pyctrl dev`` shows then. A block with a
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

DEV = "pyctrl dev"  # goes on in a terminal of its own
READS = ("kubectl get ",)  # is asked again until it says what is expected: a person looks again, too
EVERY = 0.2  # seconds
SETTLED = 3.0  # seconds without a change, after which a picture is recorded that nobody expects

#: What is different each time, and what to compare instead.
VARIES = (
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"in \d+\.\d+s", "in SECONDS"),  # what pytest took
    (r"^(diff --git|index|---|\+\+\+) .*\n", ""),  # the head of a patch has paths of the machine
)
#: Columns of tables that tell times, and how often something was done meanwhile.
COUNTS = frozenset(
    (
        *("AGE", "AGO", "LAST RUN", "RESULT", "COUNT"),
        *("RECONCILES", "PER SECOND", "MEAN", "ERRORS", "QUEUED", "DELAYED", "CAUSES"),
    )
)


@dataclass(frozen=True, slots=True)
class Step:
    """Something to type, to see or to edit.

    Attributes:
        what: the command; "" for what the terminal shows; or the path of a file.
        text: its output, the picture, or what is in the file.
        language: of the block.
        span: where ``text`` is in the page.
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
    """Leave out of an output what is different each time."""
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
    """Carries steps out; gives what came of each."""

    def __init__(self, shell: Shell, *, is_recording: bool = False) -> None:
        self._shell = shell
        self._is_recording = is_recording
        self._terminal: Terminal | None = None

    async def outcomes(self, steps: list[Step]) -> AsyncGenerator[tuple[Step, str], None]:
        """Carry steps out, one after the other; give each with its output, or what the file has."""
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
        """Look until what is expected is there; or, to record it, until it stays as it is; or give up."""
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
        written.replace(file)  # as editors save: whoever looks at the file sees all of it


def patched(text: str, patch: str) -> str:
    """Replace the lines of a patch that begin with ``-`` or a blank by those that begin with ``+`` or a blank."""
    lines = [(line[:1] or " ", line[1:]) for line in patch.splitlines()]
    before = "".join(f"{line}\n" for sign, line in lines if sign != "+")
    after = "".join(f"{line}\n" for sign, line in lines if sign != "-")
    assert text.count(before) == 1, f"the patch fits {text.count(before)} times:\n{patch}"
    return text.replace(before, after)
