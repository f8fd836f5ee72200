"""The PodSet operators: how each is built with its own tool and started, and what its defaults are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from _peers import BUILT, HERE, _run, _tool


@dataclass(frozen=True)
class Operator:
    """A program with the PodSet operator.

    Attributes:
        build: makes what is run, and returns the command. Raises `_peers.Unavailable`.
        says: its defaults, in a few words.
        has_latency: whether it works on the paced server, which takes no writes: kopf notes in each object what it did.
    """

    build: Callable[[], list[str]]
    says: str
    has_latency: bool = True


def _ours() -> list[str]:
    return [sys.executable, "-m", "peers.pyctrl.podset"]


def _go() -> list[str]:
    target = BUILT / "controller-runtime-podset"
    _run([_tool("go"), "build", "-o", str(target), "./podset"], HERE / "peers" / "controller-runtime")
    return [str(target)]


def _kopf() -> list[str]:
    """Make an environment of its own with the pinned requirements; once, until they change."""
    wanted = HERE / "peers" / "kopf_podset" / "requirements.txt"
    place = BUILT / f"kopf_podset-{sha256(wanted.read_bytes()).hexdigest()[:12]}-{sys.version_info.minor}"
    python, done = place / "bin" / "python", place / "complete"
    if not done.exists():
        _run([sys.executable, "-m", "venv", "--clear", str(place)], HERE)
        _run([str(python), "-m", "pip", "install", "-q", "-r", str(wanted)], HERE)
        done.touch()
    return [str(python), "-m", "peers.kopf_podset.peer"]


OPERATORS = {
    "pyctrl": Operator(_ours, "examples/podset: reads from the cache; merge patches of what differs; JSON logs"),
    "controller-runtime": Operator(
        _go,
        "reads from the cache; Create, Update, Status().Update; config of GetConfig, GOGC 100; JSON logs",
    ),
    "kopf": Operator(
        _kopf,
        "create and update handlers in threads with the official client; an index of pods; its logs of each object",
    ),
}
