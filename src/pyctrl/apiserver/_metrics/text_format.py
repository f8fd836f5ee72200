"""Prometheus' text format 0.0.4, with numbers as Go writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pyctrl._metrics import Histogram, MetricFamily

__all__ = ["encode_text"]


def encode_text(families: Iterable[MetricFamily]) -> str:
    """Encode metrics in Prometheus' text format 0.0.4, sorted by name as by Prometheus' library for Go."""
    lines: list[str] = []
    for family in sorted(families, key=lambda each: each.name):
        if family.samples:
            lines += (f"# HELP {family.name} {_escaped(family.meaning)}", f"# TYPE {family.name} {family.kind}")
            for labels, value in family.samples:
                lines += _lines(family.name, labels, value)
    return "".join(f"{line}\n" for line in lines)


def _lines(name: str, labels: Mapping[str, str], value: float | Histogram) -> Iterator[str]:
    if not isinstance(value, Histogram):
        yield f"{name}{_braces(labels)} {_number(value)}"
        return
    total = 0
    for bound, count in zip((*value.bounds, float("inf")), value.counts, strict=True):
        total += count
        yield f"{name}_bucket{_braces(labels, le=_number(bound))} {total}"
    yield f"{name}_sum{_braces(labels)} {_number(value.total)}"
    yield f"{name}_count{_braces(labels)} {total}"


def _braces(labels: Mapping[str, str], **last: str) -> str:
    ordered = {**dict(sorted(labels.items())), **last}
    listed = ",".join(f'{name}="{_escaped(value, quotes=True)}"' for name, value in ordered.items())
    return f"{{{listed}}}" if listed else ""


def _escaped(text: str, *, quotes: bool = False) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return escaped.replace('"', '\\"') if quotes else escaped


def _number(value: float) -> str:
    """Format a number as Go does: the shortest text, with an exponent from 1e+06 and below 1e-04."""
    if value == float("inf"):
        return "+Inf"
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        whole = text.removesuffix(".0")
        return whole if len(whole.lstrip("-").partition(".")[0]) < 7 else _exponential(value)
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+03d}"


def _exponential(value: float) -> str:
    """Format a number from 1e+06 with an exponent and all its digits."""
    digits = repr(float(value)).replace(".", "").lstrip("-").rstrip("0") or "0"
    exponent = len(repr(abs(float(value))).partition(".")[0]) - 1
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{'-' if value < 0 else ''}{mantissa}e{exponent:+03d}"
