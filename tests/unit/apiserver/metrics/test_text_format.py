"""Prometheus' text format, as Prometheus' library for Go writes it."""

from __future__ import annotations

import pytest

from pyctrl._metrics import Histogram, counter, gauge, histogram
from pyctrl.apiserver._metrics.text_format import encode_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (200, "200"),
        (0.25, "0.25"),
        (999_999, "999999"),
        (1_000_000, "1e+06"),
        (2.67821056e08, "2.67821056e+08"),
        (1.8446744073709552e19, "1.8446744073709552e+19"),
        (0.00001, "1e-05"),
        (-1.5e6, "-1.5e+06"),
        (float("inf"), "+Inf"),
    ],
)
def test_numbers_are_written_as_in_go(value: float, text: str) -> None:
    """A number has the text that kube-apiserver writes for it."""
    assert encode_text([gauge("a", "help", ({}, value))]) == f"# HELP a help\n# TYPE a gauge\na {text}\n"


def test_labels_are_sorted_and_escaped() -> None:
    """Labels are in alphabetical order; quotes, backslashes and line feeds are escaped."""
    text = encode_text([counter("a_total", 'x\\y\n"z"', ({"z": "1", "b": 'say "hi"\\\n'}, 2))])
    assert text == ('# HELP a_total x\\\\y\\n"z"\n# TYPE a_total counter\na_total{b="say \\"hi\\"\\\\\\n",z="1"} 2\n')


def test_a_histogram_is_cumulative() -> None:
    """A bucket counts all values up to its bound. Families are sorted by name; those without samples are left out."""
    values = Histogram((0.5, 1e6))
    for value in (0.1, 0.5, 7, 2e6):
        values.observe(value)
    text = encode_text([histogram("b", "x", ({"verb": "GET"}, values)), gauge("a", "x", ({}, 1)), gauge("c", "x")])
    assert text.splitlines() == [
        "# HELP a x",
        "# TYPE a gauge",
        "a 1",
        "# HELP b x",
        "# TYPE b histogram",
        'b_bucket{verb="GET",le="0.5"} 2',
        'b_bucket{verb="GET",le="1e+06"} 3',
        'b_bucket{verb="GET",le="+Inf"} 4',
        'b_sum{verb="GET"} 2.0000076e+06',
        'b_count{verb="GET"} 4',
    ]
