"""Pictures of terminals as SVG: one frame, or an animation without scripts, with the fonts of the reader's system."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from xml.etree import ElementTree as ET

__all__ = ["Frame", "Pane", "Run", "animation", "problems", "still"]

CELL, LINE, SIZE = 8.4, 18, 14  # pixels: a character of most monospace fonts is 0.6 times as wide as it is high
MARGIN, BAR, GAP = 12, 28, 10  # around a pane, its title bar, between two panes
TEXT, BACKGROUND, CHROME, DIM = "#e0e0e0", "#121212", "#2a2a2a", "#9e9e9e"
LARGEST = 300_000  # bytes
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
STYLE = f"text{{font:{SIZE}px {FONTS};white-space:pre}}.b{{font-weight:bold}}"


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one style in a line."""

    column: int
    text: str
    colour: str = TEXT
    background: str = BACKGROUND
    is_bold: bool = False


Line = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Pane:
    """A window: its title and its size."""

    title: str
    columns: int
    lines: int

    @property
    def height(self) -> float:
        """The height in pixels."""
        return BAR + self.lines * LINE + MARGIN

    @property
    def width(self) -> float:
        """The width in pixels."""
        return self.columns * CELL + 2 * MARGIN


@dataclass(frozen=True, slots=True)
class Frame:
    """The lines of each pane, a caption, and how long it is shown."""

    panes: tuple[tuple[Line, ...], ...]
    caption: str
    seconds: float


def still(panes: Sequence[Pane], frame: Frame) -> str:
    """Return a picture of one frame."""
    return animation(panes, [frame])


def animation(panes: Sequence[Pane], frames: Sequence[Frame]) -> str:
    """Return the frames as an endless animation. A line that several frames have is stored once."""
    lines: dict[Line, str] = {}
    shown = [_frame(panes, frame, number, lines) for number, frame in enumerate(frames)]
    defined = [f'<g id="{name}">{_line(line)}</g>' for line, name in lines.items()]
    width = max(pane.width for pane in panes)
    height = sum(pane.height for pane in panes) + GAP * (len(panes) - 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<style>{STYLE}{_keyframes(frames)}</style><defs>{''.join(defined)}</defs>",
        *(_window(pane, top) for pane, top in zip(panes, _tops(panes), strict=True)),
        *shown,
        "</svg>\n",
    ]
    return "\n".join(parts)


def _tops(panes: Sequence[Pane]) -> list[float]:
    return list(accumulate((pane.height + GAP for pane in panes[:-1]), initial=0.0))


def _keyframes(frames: Sequence[Frame]) -> str:
    """Return the style that shows one frame after the other; without animations, or with reduced motion, the first."""
    if len(frames) == 1:
        return ""
    total = sum(frame.seconds for frame in frames)
    ends = [100 * end / total for end in accumulate(frame.seconds for frame in frames)]
    rules = [".f{visibility:hidden}.f0{visibility:visible}"]
    for number, (start, end) in enumerate(zip([0.0, *ends], ends, strict=False)):
        first = f"0%{{visibility:hidden}}{start:.3f}%" if number else "0%"
        rules.append(f"@keyframes k{number}{{{first}{{visibility:visible}}{end:.3f}%,100%{{visibility:hidden}}}}")
    names = "".join(f".f{number}{{animation:k{number} {total:g}s step-end infinite}}" for number in range(len(frames)))
    return f"{''.join(rules)}@media(prefers-reduced-motion:no-preference){{{names}}}"


def _frame(panes: Sequence[Pane], frame: Frame, number: int, lines: dict[Line, str]) -> str:
    """Return a frame as references to its lines, and add those that are new."""
    parts = []
    if frame.caption:
        parts.append(
            f'<text x="{panes[0].width - MARGIN:g}" y="19" fill="#ffd166" text-anchor="end">{frame.caption}</text>'
        )
    for top, texts in zip(_tops(panes), frame.panes, strict=True):
        for place, line in enumerate(texts):
            if line:
                name = lines.setdefault(line, f"l{len(lines)}")
                parts.append(f'<use href="#{name}" y="{top + BAR + place * LINE:g}"/>')
    return f'<g class="f f{number}">{"".join(parts)}</g>'


def _line(line: Line) -> str:
    parts = []
    for run in line:
        x, width = MARGIN + run.column * CELL, len(run.text) * CELL
        if run.background != BACKGROUND:
            parts.append(f'<rect x="{x:g}" width="{width:g}" height="{LINE}" fill="{run.background}"/>')
        if text := run.text.strip():
            x += CELL * (len(run.text) - len(run.text.lstrip()))
            bold = ' class="b"' if run.is_bold else ""
            size = f'textLength="{len(text) * CELL:.5g}" lengthAdjust="spacingAndGlyphs"'
            parts.append(f'<text x="{x:.5g}" y="13.5" fill="{run.colour}"{bold} {size}>{escape(text)}</text>')
    return "".join(parts)


def _window(pane: Pane, top: float) -> str:
    dots = "".join(
        f'<circle cx="{18 + 18 * number}" cy="{top + 14:g}" r="5.5" fill="{colour}"/>'
        for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    size = f'width="{pane.width - 1:g}" height="{pane.height - 1:g}"'
    return (
        f'<rect x=".5" y="{top + 0.5:g}" {size} rx="8" fill="{BACKGROUND}" stroke="#555"/>'
        f'<path d="M1 {top + BAR - 2:g}v-18a8 8 0 0 1 8-8H{pane.width - 9:g}a8 8 0 0 1 8 8v18z" fill="{CHROME}"/>'
        f'{dots}<text x="80" y="{top + 19:g}" fill="{DIM}">{escape(pane.title)}</text>'
    )


def problems(text: str) -> list[str]:
    """Return why a picture cannot be shown in a page that allows no scripts and no requests; empty if it can."""
    found = [f"{len(text.encode()):,} bytes are more than {LARGEST:,}"] if len(text.encode()) > LARGEST else []
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        return [*found, f"it is not well-formed: {error}"]
    for element in root.iter():
        tag = element.tag.rpartition("}")[2]
        if tag in {"script", "foreignObject", "image", "a"}:
            found.append(f"it has an element {tag}")
        for name, value in element.items():
            is_external = name.rpartition("}")[2] == "href" and not value.startswith("#")
            if name.startswith("on") or is_external or "url(" in value:
                found.append(f"it has the attribute {name}={value!r}")
        if tag == "style" and re.search(r"@import|@font-face|url\(", element.text or ""):
            found.append("its style refers to a file")
    return found
