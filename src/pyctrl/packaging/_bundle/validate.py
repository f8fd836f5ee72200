"""Validation of a bundle with all or some suites of rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pyctrl.packaging._bundle import object_validation, scorecard
from pyctrl.packaging._bundle import rules as _rules
from pyctrl.packaging._bundle.contents import SUITES, BundleProblem, Contents, Suite, read_contents
from pyctrl.packaging._bundle.operatorhub import good_practices, operatorhub

__all__ = ["check_bundle"]


def check_bundle(
    files: Mapping[str, bytes], *, suites: Collection[Suite] = SUITES, place: str = ""
) -> list[BundleProblem]:
    """Return the problems of a bundle, found without a cluster.

    Args:
        files: its files by their paths below the bundle's directory.
        suites: only these suites of rules. Objects that are invalid by those of ``bundle`` are skipped by the others.
        place: the bundle's directory, for messages.
    """
    contents = read_contents(files, place)
    found = [*object_validation.object_problems(contents), *_all(contents)]
    return [each for each in found if each.suite in suites]


def _all(contents: Contents) -> Iterator[BundleProblem]:
    yield from _rules.rule_problems(contents)
    if contents.csv is not None:
        yield from operatorhub(contents)
        yield from good_practices(contents)
        yield from scorecard.scorecard_problems(contents)
