"""Numbers and tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def number(value: float) -> str:
    """Format with three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def scaled(value: float | None, scale: float) -> str:
    """Format in these units, or as an empty string without a number."""
    return "" if value is None else number(value * scale)


def times(value: float | None) -> str:
    """Format a ratio, or an empty string without one."""
    return "" if value is None else f"{value:.2f}"


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 1) -> str:
    """Return a table. The first columns are names, aligned left; numbers are aligned right."""
    widths = [max(len(row[n]) for row in (heads, *rows)) for n in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if n < names else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    return "\n".join([line(heads), f"|{'|'.join('-' * (width + 2) for width in widths)}|", *map(line, rows)])
