"""The PodSet operators: how each is built with its own tool and started, and what its defaults are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from _peers import BUILT, HERE, _run, _tool


@dataclass(frozen=True)
class Operator:
    """A program with the PodSet operator.

    Attributes:
        build: makes what is run, and returns the command. Raises `_peers.Unavailable`.
        says: its defaults, in a few words.
    """

    build: Callable[[], list[str]]
    says: str


def _ours() -> list[str]:
    return [sys.executable, "-m", "peers.pyctrl.podset"]


def _go() -> list[str]:
    target = BUILT / "controller-runtime-podset"
    _run([_tool("go"), "build", "-o", str(target), "./podset"], HERE / "peers" / "controller-runtime")
    return [str(target)]


OPERATORS = {
    "pyctrl": Operator(_ours, "examples/podset: reads from the cache; merge patches of what differs; JSON logs"),
    "controller-runtime": Operator(
        _go,
        "reads from the cache; Create, Update, Status().Update; config of GetConfig, GOGC 100; JSON logs",
    ),
}
