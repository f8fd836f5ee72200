"""Record a session of `pyctrl dev` with examples/website as the picture of the README.

    python tools/record_dev.py            # write docs/images/dev.svg and dev-error.svg
    python tools/record_dev.py --check    # fail if one of them is broken, too large, or refers to other files

The session is real: the program runs on the embedded cluster in a terminal, and the script saves a change, a mistake
and its correction, and presses keys. It takes half a minute.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import pyte.screens
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]  # for `tests` and `tools`, when this file runs as a script

from tests.integration._terminals import Terminal, terminal  # noqa: E402  # after the path is set
from tools._terminal_svg import BACKGROUND, DIM, TEXT, Frame, Line, Pane, Run, animation, problems, still  # noqa: E402

PROGRAM = ROOT / "examples" / "website" / "website.py"
IMAGES = ROOT / "docs" / "images"
EDITOR, SCREEN = Pane("website.py", 100, 7), Pane("pyctrl dev website.py", 100, 20)
PATIENCE = 60.0  # seconds
STEP = 0.25  # seconds between two looks at the terminal
CHANGED = "#1f3a2a"  # background of a line that was just saved
COLOURS: dict[_TokenType, str] = {
    Keyword: "#c792ea",
    String: "#a5d6a7",
    Number: "#f78c6c",
    Comment: DIM,
    Name.Builtin.Pseudo: "#f07178",
}


@dataclass(frozen=True, slots=True)
class Scene:
    """A part of the recording.

    Attributes:
        caption: what happens.
        shows: the text on the screen that the scene begins with, once it is there.
        seconds: how long it is then recorded.
        edit: a text of the program, and its replacement, that are saved first.
        key: the key that is pressed first.
        lacks: a text that must be gone.
    """

    caption: str
    shows: str
    seconds: float
    edit: tuple[str, str] = ("", "")
    key: str = ""
    lacks: str = "\0"


SCENES = (
    Scene("your program runs in a cluster of its own", "done (", 3),
    Scene("enter: what the object owns", "Running, Ready", 2.5, key="\r"),
    Scene("save a change: it is live", "3/3 ready", 3.5, ("replicas=website.spec.replicas", "replicas=3")),
    Scene("escape: back to all objects", "reloaded", 2, key="\x1b"),
    Scene(
        "save a mistake: the error, with its line", "AttributeError", 4, ("website.spec.image", "website.spec.imgae")
    ),
    Scene("enter: the traceback", "▸ 2", 4, key="\r"),
    Scene(
        "correct it: the error is gone",
        "reloaded 3 times",
        4,
        ("website.spec.imgae", "website.spec.image"),
        "\x1b",
        "✗",
    ),
)


class Recording:
    """The frames of a session so far."""

    def __init__(self, opened: Terminal, file: Path) -> None:
        self._terminal, self._file = opened, file
        self._changed = 0
        self.frames: list[Frame] = []

    async def play(self, scene: Scene) -> None:
        """Record a scene."""
        if scene.key:
            self._terminal.press(scene.key)
        if scene.edit[0]:
            await self._save(*scene.edit, caption=scene.caption)
        loop, lines = asyncio.get_running_loop(), self._terminal
        until = loop.time() + PATIENCE
        while scene.shows not in lines.screen or scene.lacks in lines.screen:
            assert loop.time() < until, f"{scene.shows!r} is not on the screen:\n{lines.screen}"
            await asyncio.sleep(0.05)
        for _ in range(round(scene.seconds / STEP)):
            self._take(scene.caption)
            await asyncio.sleep(STEP)

    async def _save(self, old: str, new: str, *, caption: str) -> None:
        text = self._file.read_text()
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {self._file.name}"
        self._changed = text[: text.index(old)].count("\n")
        self._file.write_text(text.replace(old, new))
        self._take(caption)  # the editor first; the session looks for changes three times a second

    def _take(self, caption: str) -> None:
        """Add a frame, or show the last one longer."""
        source = code_lines(self._file.read_text(), self._changed, EDITOR.lines)
        frame = Frame((source, screen_lines(self._terminal.cells)), caption, STEP)
        if self.frames and replace(self.frames[-1], seconds=STEP) == frame:
            self.frames[-1] = replace(frame, seconds=self.frames[-1].seconds + STEP)
        else:
            self.frames.append(frame)


def screen_lines(cells: Sequence[Sequence[pyte.screens.Char]]) -> tuple[Line, ...]:
    """Return the cells of a terminal as lines of runs."""
    return tuple(tuple(_runs(line)) for line in cells)


def _runs(cells: Sequence[pyte.screens.Char]) -> list[Run]:
    runs, column = [], 0
    for (colour, background, bold), group in groupby(cells, _style):
        text = "".join(cell.data for cell in group)
        if text.strip() or background != BACKGROUND:
            runs.append(Run(column, text, colour, background, bold))
        column += len(text)
    return runs


def _style(cell: pyte.screens.Char) -> tuple[str, str, bool]:
    colour = TEXT if cell.fg == "default" else f"#{cell.fg}"
    background = BACKGROUND if cell.bg == "default" else f"#{cell.bg}"
    return (background, colour, cell.bold) if cell.reverse else (colour, background, cell.bold)


def code_lines(text: str, changed: int, count: int) -> tuple[Line, ...]:
    """Return lines of a program around a changed one, which is highlighted; 0: the last lines, without a highlight."""
    lines = text.rstrip().split("\n")
    first = min(max(0, changed - count // 2), len(lines) - count) if changed else len(lines) - count
    numbered = list(enumerate(_highlighted(text, lines)))[first : first + count]
    return tuple(
        (
            *((Run(0, " " * EDITOR.columns, background=CHANGED),) if changed and number == changed else ()),
            Run(0, f"{number + 1:>3}", DIM, CHANGED if changed and number == changed else BACKGROUND),
            *(replace(run, background=CHANGED if changed and number == changed else BACKGROUND) for run in runs),
        )
        for number, runs in numbered
    )


def _highlighted(text: str, lines: Sequence[str]) -> list[list[Run]]:
    """Return the runs of each line, cut at the width of the editor."""
    found: list[list[Run]] = [[] for _ in lines]
    number, column, left = 0, 5, EDITOR.columns
    for token, value in PythonLexer().get_tokens(text):
        colour = next((each for kind, each in COLOURS.items() if token in kind), TEXT)
        for place, part in enumerate(value.split("\n")):
            if place:
                number, column = number + 1, 5
            if part.strip() and column < left and number < len(found):
                found[number].append(Run(column, part[: left - column], colour))
            column += len(part)
    return found


@asynccontextmanager
async def session() -> AsyncIterator[Recording]:
    """Run the program in a terminal, in an empty home directory."""
    with TemporaryDirectory() as home:
        file = Path(home, "website.py")
        file.write_text(PROGRAM.read_text())
        variables = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        variables |= {"HOME": home, "PWD": home, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        variables |= {"PYTHONPATH": str(ROOT / "src"), "LC_ALL": "C.UTF-8"}
        command = f'"{sys.executable}" -m pyctrl dev website.py'
        async with terminal(command, variables, lines=SCREEN.lines, columns=SCREEN.columns) as opened:
            yield Recording(opened, file)


async def record() -> dict[str, str]:
    """Return the pictures by name."""
    async with session() as recording:
        for scene in SCENES:
            await recording.play(scene)
    frames = recording.frames
    failed = next(frame for frame in reversed(frames) if frame.caption == SCENES[4].caption)
    error = Frame(failed.panes[1:], "", 1)
    return {"dev.svg": animation([EDITOR, SCREEN], frames), "dev-error.svg": still([SCREEN], error)}


def main(arguments: Sequence[str]) -> int:
    """Write the pictures, or check them; return the exit code."""
    if "--check" not in arguments:
        for name, text in asyncio.run(record()).items():
            (IMAGES / name).write_text(text)
            print(f"wrote docs/images/{name}, {len(text.encode()):,} bytes")
    found = [
        f"docs/images/{name}: {problem}"
        for name in ("dev.svg", "dev-error.svg")
        for problem in problems((IMAGES / name).read_text())
    ]
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
