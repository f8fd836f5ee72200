"""Comparison of CRDs, as text or JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from pyctrl.cli._client_flags import ClientFlags
from pyctrl.cli._definition_sources import read_source
from pyctrl.cli._output import has_colour, print_json
from pyctrl.cli._packaging_flags import NO_PACKAGING_FLAGS
from pyctrl.manifests import DefinitionChange, compare_definition_sets, has_breaking_changes

__all__ = ["diff"]

_COLOURS = {"breaking": "31", "risky": "33", "harmless": "32"}


def diff(old: str, new: str | None, *, everything: bool, output: str, login: ClientFlags) -> int:
    """Print the changes between two sets of CRDs; return the exit code, 1 if a change is breaking."""
    new = new if new is not None else NO_PACKAGING_FLAGS.settings(None).target
    found = compare_definition_sets(
        *(read_source(source, login, quiet=output == "json", is_converted=True) for source in (old, new))
    )
    if output == "json":
        definitions = {name: [asdict(change) for change in changes] for name, changes in found.items()}
        print_json({"definitions": definitions, "breaks": _breaks(found)})
    else:
        sys.stdout.write("\n\n".join(_text(found, everything=everything, colour=has_colour(sys.stdout))) + "\n")
    return int(_breaks(found))


def _breaks(found: Mapping[str, tuple[DefinitionChange, ...]]) -> bool:
    return any(has_breaking_changes(changes) for changes in found.values())


def _text(found: Mapping[str, tuple[DefinitionChange, ...]], *, everything: bool, colour: bool) -> Iterator[str]:
    for name, changes in found.items():
        shown = [change for change in changes if everything or change.effect != "harmless"]
        if shown:
            yield "\n".join([f"\x1b[1m{name}\x1b[0m" if colour else name, *(_line(each, colour) for each in shown)])
    yield _sum([change for changes in found.values() for change in changes], everything=everything)


def _line(change: DefinitionChange, colour: bool) -> str:
    effect = f"{change.effect:8}"
    painted = f"\x1b[{_COLOURS[change.effect]}m{effect}\x1b[0m" if colour else effect
    place = " ".join(filter(None, (change.version, change.path)))
    return f"  {painted}  {place}\n            {change.message}  [{change.code}]"


def _sum(changes: list[DefinitionChange], *, everything: bool) -> str:
    counts = {effect: sum(change.effect == effect for change in changes) for effect in _COLOURS}
    counted = ", ".join(f"{count} {effect}" for effect, count in counts.items() if count)
    hidden = counts["harmless"] and not everything
    return f"{counted}{' (--all shows harmless changes, too)' if hidden else ''}" if counted else "nothing changed"
