"""What is wrong with a bundle, by all rules or some."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pyctrl.shipping._bundle import _rules, _scorecard, _validity
from pyctrl.shipping._bundle._contents import SUITES, Contents, Objection, Suite, read_contents
from pyctrl.shipping._bundle._hub import good_practices, operatorhub

__all__ = ["examine"]


def examine(files: Mapping[str, bytes], *, suites: Collection[Suite] = SUITES, place: str = "") -> list[Objection]:
    """Say what is wrong with a bundle, without a cluster.

    Args:
        files: by their paths below the bundle's directory.
        suites: by these rules only. What makes no sense by those of ``bundle`` is not looked at by the others.
        place: that directory, for messages.
    """
    contents = read_contents(files, place)
    found = [*_validity.objections(contents), *_all(contents)]
    return [each for each in found if each.suite in suites]


def _all(contents: Contents) -> Iterator[Objection]:
    yield from _rules.objections(contents)
    if contents.csv is not None:
        yield from operatorhub(contents)
        yield from good_practices(contents)
        yield from _scorecard.objections(contents)
