"""The charts of docs/images: their numbers are those of the benchmarks' tables."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tests._documents import ROOT
from tools.plot_benchmarks import CHARTS, charts, tables

REPORT = (ROOT / "benchmarks" / "README.md").read_text()


def test_a_table_is_read_with_its_title_and_the_first_of_equal_columns() -> None:
    """A table has the title above it. Ratios of the same head do not replace a number."""
    report = "```\nthe title\n\n| peer | µs | × | × |\n|---|---|---|---|\n| limit | 1,234 ±2% | 1.00 | 3 |\n```\n"

    assert tables(report) == {"the title": [{"peer": "limit", "µs": "1,234 ±2%", "×": "1.00"}]}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_an_image_with_a_text_alternative(name: str) -> None:
    """The description has every number that the chart shows, and each bar has its name."""
    root = ET.fromstring(charts(REPORT)[f"{name}.svg"])
    texts = [(each.get("class", ""), each.text or "") for each in root.iter("{*}text")]
    names = [text for kind, text in texts if kind.startswith("name")]
    values = [text for kind, text in texts if kind.startswith("value")]
    description = root.findtext("{*}desc") or ""

    assert root.get("role") == "img"
    assert all(text in description for kind, text in texts if kind == "title")
    assert all(f"{name} {value}" in description for name, value in zip(names, values, strict=True))


def test_bars_are_as_long_as_their_numbers() -> None:
    """The first chart shows 20.1 s of controller-runtime beside 1.09 s of pyctrl."""
    bars = re.findall(r'class="bar[^"]*" [^>]*width="([\d.]+)"', charts(REPORT)["costs.svg"])

    assert float(bars[2]) / float(bars[0]) == pytest.approx(201 / 10.9, rel=0.01)


def test_a_new_number_draws_a_new_chart() -> None:
    """`--check` fails when a number of a table changes."""
    changed = REPORT.replace("| pyctrl             | 10.9 ±22% |", "| pyctrl             | 12.9 ±22% |")

    assert changed != REPORT
    assert charts(changed)["costs.svg"] != charts(REPORT)["costs.svg"]
