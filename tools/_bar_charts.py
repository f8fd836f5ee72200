"""Bar charts as SVG: panels one below the other, readable on a phone, in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Bar", "Panel", "chart"]

WIDTH = 480  # of the drawing; a phone shows 350 pixels of it, so that the text has at least 10
NAMES = 158  # right end of the names
BARS = 168  # left end of the bars
VALUES = 76  # kept free for the value behind the longest bar
ROW = 24
TITLE = 34
GAP = 14  # below a panel

# The colours of docs/assets/site.css. Each has a contrast of 4.5 or more to the background of its mode.
STYLE = """
  text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: #3d4754 }
  .title { font-size: 15px; font-weight: 600; fill: #17202b }
  .name, .value { dominant-baseline: central }
  .name { text-anchor: end }
  .ours { font-weight: 600; fill: #1d52c4 }
  .bar { fill: #a9b4c2 }
  .bar.ours { fill: #2a62dd }
  .axis { stroke: #d5dbe3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #c3ccd8 }
    .title { fill: #f0f3f7 }
    .ours { fill: #8fb4ff }
    .bar { fill: #566274 }
    .bar.ours { fill: #6f9bff }
    .axis { stroke: #3a4452 }
  }"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a panel."""

    name: str
    value: float
    text: str  # the value with its unit
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """Bars that share a scale."""

    title: str
    bars: Sequence[Bar]

    @property
    def height(self) -> int:
        return TITLE + ROW * len(self.bars) + GAP


def chart(title: str, description: str, panels: Sequence[Panel]) -> str:
    """Return an SVG document.

    Args:
        title: what the chart shows, for readers who do not see it.
        description: its numbers in words, for the same readers.
        panels: drawn from top to bottom.
    """
    height = sum(panel.height for panel in panels)
    tops = [sum(panel.height for panel in panels[:n]) for n in range(len(panels))]
    drawn = "\n".join(line for panel, top in zip(panels, tops, strict=True) for line in _panel(panel, top))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        f' role="img" aria-labelledby="title description">\n'
        f'<title id="title">{escape(title)}</title>\n<desc id="description">{escape(description)}</desc>\n'
        f"<style>{STYLE}\n</style>\n{drawn}\n</svg>\n"
    )


def _panel(panel: Panel, top: int) -> Iterator[str]:
    yield f'<text class="title" x="0" y="{top + 20}">{escape(panel.title)}</text>'
    first = top + TITLE
    scale = (WIDTH - BARS - VALUES) / max(bar.value for bar in panel.bars)
    for n, bar in enumerate(panel.bars):
        yield _bar(bar, first + n * ROW, scale)
    end = first + len(panel.bars) * ROW
    yield f'<line class="axis" x1="{BARS}" x2="{BARS}" y1="{first}" y2="{end}"/>'


def _bar(bar: Bar, top: int, scale: float) -> str:
    ours, middle = " ours" if bar.is_ours else "", top + ROW // 2
    length = max(bar.value * scale, 1.5)  # a bar of nothing is still a bar
    return (
        f'<text class="name{ours}" x="{NAMES}" y="{middle}">{escape(bar.name)}</text>'
        f'<rect class="bar{ours}" x="{BARS}" y="{top + 4}" width="{length:.1f}" height="{ROW - 8}" rx="2"/>'
        f'<text class="value{ours}" x="{BARS + length + 7:.1f}" y="{middle}">{escape(bar.text)}</text>'
    )
