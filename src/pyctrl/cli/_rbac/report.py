"""Report of a diagnosis: as text, object by object, or as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from pyctrl.api import AccessRule, Key
from pyctrl.rbac import BoundRole, Diagnosis, Finding, ObjectRef, RequiredRule, Severity, normalise

__all__ = ["as_json", "as_text"]

WIDTH = 100  # columns; longer lines are hard to read
_COLOURS: dict[Severity | str, str] = {
    "error": "31",
    "warning": "33",
    "hint": "36",
    "ok": "32",
    "bold": "1",
    "dim": "2",
}


def as_json(diagnosis: Diagnosis, unread: Sequence[str]) -> str:
    """Return the diagnosis for JSON."""
    return json.dumps({**diagnosis.to_wire(), "unread": list(unread)}, indent=2, ensure_ascii=False)


def as_text(diagnosis: Diagnosis, unread: Sequence[str], *, colour: bool) -> str:
    """Return the diagnosis as text: permissions of each account, findings by object, and their number."""
    paint = _paint if colour else _plain
    parts = [
        *(_account(account, held, paint, bool(unread)) for account, held in diagnosis.accounts.items()),
        *_needs(diagnosis.needs, paint),
        *(_object(named, list(found), paint) for named, found in groupby(diagnosis.findings, lambda each: each.object)),
        *_unread(unread, paint),
        _sum(diagnosis.findings, paint, bool(unread)),
    ]
    return "\n\n".join(parts)


class _Painter:
    """Paints words by their meaning."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def __call__(self, meaning: str, text: str) -> str:
        return f"\x1b[{_COLOURS[meaning]}m{text}\x1b[0m" if self._colour else text


_paint, _plain = _Painter(colour=True), _Painter(colour=False)


def _clean(text: str) -> str:
    """Escape control characters: the server accepts names with any character."""
    return "".join(each if each.isprintable() or each == "\n" else f"\\u{ord(each):04x}" for each in text)


# --- permissions ---


def _account(account: Key, held: Sequence[BoundRole], paint: _Painter, is_partial: bool) -> str:
    lines = [paint("bold", _clean(f"ServiceAccount {account}"))]
    lines += [f"  has {_clean(str(holding))}" for holding in held] or [
        f"  has nothing: no binding names it{' of those that could be read' if is_partial else ''}"
    ]
    return "\n".join(lines)


def _needs(needs: Sequence[RequiredRule], paint: _Painter) -> Iterator[str]:
    if not needs:
        return
    found: dict[tuple[str, ObjectRef | None], list[AccessRule]] = {}
    for need in needs:
        found.setdefault((need.namespace, need.granted_by), []).append(need.rule)
    lines = [paint("bold", "The program needs")]
    for (namespace, granted_by), rules in found.items():
        where = f"in namespace {namespace}" if namespace else "everywhere"
        word = paint("ok", "granted") if granted_by is not None else paint("error", "missing")
        by = f", by {granted_by}" if granted_by is not None else ""
        lines += [f"  {word}  {_rule_text(rule)} {where}{by}" for rule in normalise(rules)]
    yield "\n".join(lines)


def _rule_text(rule: AccessRule) -> str:
    names = f" {', '.join(rule.names)}" if rule.names else ""
    return f"{', '.join(rule.verbs)} {', '.join(rule.paths or rule.qualified_resources)}{names}"


# --- findings ---


def _object(named: ObjectRef, findings: Sequence[Finding], paint: _Painter) -> str:
    source = paint("dim", _clean(f"  ({named.source})")) if named.source else ""
    title = f"{named.source}, line {named.name}" if named.kind == "line" else str(named)
    lines = [paint("bold", _clean(title)) + ("" if named.kind == "line" else source)]
    for number, each in enumerate(findings):
        lines.append(f"  {paint(each.severity, each.severity)}  {each.code}")
        lines += textwrap.wrap(_clean(each.message), WIDTH, initial_indent="    ", subsequent_indent="    ")
        is_last = number + 1 == len(findings) or findings[number + 1].fix != each.fix
        if each.fix and is_last:  # several findings in one rule have one fix
            lines.append(paint("dim", "    fix:"))
            lines += [f"      {line}" for line in _clean(each.fix).splitlines()]
    return "\n".join(lines)


def _unread(unread: Iterable[str], paint: _Painter) -> Iterator[str]:
    lines = [f"  {_clean(each)}" for each in unread]
    if lines:
        yield "\n".join([paint("bold", "Could not be read, so findings may be missing or wrong"), *lines])


def _sum(findings: Sequence[Finding], paint: _Painter, is_partial: bool) -> str:
    counts = {word: sum(each.severity == word for each in findings) for word in ("error", "warning", "hint")}
    parts = [paint(word, f"{count} {word}{'s' if count > 1 else ''}") for word, count in counts.items() if count]
    return ", ".join(parts) or paint("ok", "nothing found in what could be read" if is_partial else "nothing found")
