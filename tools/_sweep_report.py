"""Report of a sweep: the differences between two servers, grouped by their form."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from tests.conformance._sweep import JSON, Case, changes, comparable

_SHOWN = 900  # characters of an answer that are compared with patterns and printed


class Report:
    """Equal answers, differences that are known, and others.

    Args:
        known: Entries with `kinds`, a pattern of targets; `differs`, a pattern of the request and both answers; and the
            `reason`.
    """

    def __init__(self, known: Sequence[Mapping[str, str]]) -> None:
        self._known = known
        self._total: Counter[str] = Counter()
        self._different: Counter[str] = Counter()
        self._by_reason: Counter[str] = Counter()
        self.equal: list[bool] = []
        self.groups: dict[str, list[str]] = defaultdict(list)

    def add(self, case: Case, wanted: JSON, got: JSON) -> None:
        """Compare two answers to a request."""
        kind = case.target.name.partition("/")[0]
        wanted, got = comparable(wanted), json.loads(json.dumps(got))
        self._total[kind] += 1
        self.equal.append(wanted == got)
        if wanted == got:
            return
        left, right = _differing_parts(wanted, got)
        text = f"{_request(case)}\n      want {left}\n      got  {right}"
        for entry in self._known:
            if re.search(entry["kinds"], case.target.name) and re.search(entry["differs"], text, re.DOTALL):
                self._by_reason[entry["reason"]] += 1
                return
        self._different[kind] += 1
        form = re.sub(r'"[^"]*"', '"S"', re.sub(r"\d+", "#", f"{left} || {right}"))
        self.groups[form].append(text)

    def print(self, *, top: int, width: int, grep: str) -> None:
        """Print the largest groups and the counts."""
        pattern = re.compile(grep, re.DOTALL)
        groups = [found for each in self.groups.values() if (found := [text for text in each if pattern.search(text)])]
        for each in sorted(groups, key=len, reverse=True)[:top]:
            lines = [line[:width] for line in each[0].split("\n")]
            print(f"{len(each):5} ", "\n".join(lines))
            if len(each) > 1:
                print("      also", each[-1].partition("\n")[0])
        for reason, count in self._by_reason.most_common():
            print(f"{count:5}  known: {reason}")
        known = sum(self._by_reason.values())
        print(sum(self._total.values()), "answers,", sum(self.equal), "equal,", known, "known differences,", end=" ")
        print(sum(self._different.values()), "others in", len(self.groups), "groups")
        print(*(f"{kind} {count}/{self._total[kind]};" for kind, count in self._different.most_common()))


def _request(case: Case) -> str:
    if case.mutation is None:
        return f"{case.target.name} {case.verb} the base object"
    path, value = ".".join(map(str, case.mutation.path)), case.mutation.value
    return f"{case.target.name} {case.verb} {path}={json.dumps(value[0])[:200] if value else '(removed)'}"


def _differing_parts(wanted: JSON, got: JSON) -> tuple[str, str]:
    if got is None:
        return _shown(wanted), "the mutation does not fit the stored object"
    if "object" in wanted and "object" in got:
        both = (wanted["object"], got["object"])
        return _shown(list(changes(both[1], both[0], ()))), _shown(list(changes(*both, ())))
    for key in ("causes", "changes"):
        if key in wanted and key in got:
            only = [each for each in wanted[key] if each not in got[key]]
            other = [each for each in got[key] if each not in wanted[key]]
            if only or other:
                return _shown(only), _shown(other)
    keys = sorted(key for key in wanted.keys() | got.keys() if wanted.get(key) != got.get(key))
    return _shown({key: wanted.get(key) for key in keys}), _shown({key: got.get(key) for key in keys})


def _shown(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]
