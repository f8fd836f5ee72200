"""Numbers and tables as people read them, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def number(value: float) -> str:
    """Write with three digits that mean something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def scaled(value: float | None, scale: float) -> str:
    """Write so many units; nothing where there is no number."""
    return "" if value is None else number(value * scale)


def times(value: float | None) -> str:
    """Write a ratio; nothing where there is none."""
    return "" if value is None else f"{value:.2f}"


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 1) -> str:
    """Return a table. The first columns are names, to the left; numbers are to the right."""
    widths = [max(len(row[n]) for row in (heads, *rows)) for n in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if n < names else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    return "\n".join([line(heads), f"|{'|'.join('-' * (width + 2) for width in widths)}|", *map(line, rows)])
