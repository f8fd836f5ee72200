"""The peers: their abilities, and how to build and start each with its own tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from _works import OPERATOR_WORKS

HERE = Path(__file__).parent
BUILT = HERE / ".cache"  # for build results; ignored by git


class Unavailable(Exception):
    """Raised when a peer cannot be built on this machine, with a short reason."""


@dataclass(frozen=True)
class Peer:
    """A program with the same task.

    Attributes:
        name: its directory in `peers`.
        build: builds the program, and returns the command that runs it.
        works: the works that it can do.
        kinds: the kinds that it reads.
        lists: the forms of the first list that it supports.
        operator: builds its PodSet operator, which does the works `loop`, `restart` and `latency`.
    """

    name: str
    build: Callable[[str], list[str]]
    works: frozenset[str]
    kinds: frozenset[str]
    lists: frozenset[str]
    operator: Callable[[str], list[str]] | None = None

    def command(self, work: str) -> list[str]:
        """Build the program for this work and return the command that starts it. Raises Unavailable."""
        if work in OPERATOR_WORKS:
            assert self.operator is not None, f"{self.name} has no operator"
            return self.operator(self.name)
        return self.build(self.name)

    def can(self, work: str, kind: str, lists: str) -> bool:
        """Whether the peer can do this work."""
        return work in self.works and (work in OPERATOR_WORKS or (kind in self.kinds and lists in self.lists))


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Unavailable(f"{name} is not installed")
    return found


def _run(command: list[str], directory: Path) -> None:
    ran = subprocess.run(
        command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if ran.returncode:
        last = ran.stdout.strip().splitlines()[-1:] or ["nothing was printed"]
        raise Unavailable(f"`{Path(command[0]).name} {command[1]}` failed: {last[0]}")


def _go(name: str) -> list[str]:
    target = BUILT / name
    _run([_tool("go"), "build", "-o", str(target), "."], HERE / "peers" / name)
    return [str(target)]


def _cargo(name: str) -> list[str]:
    target = BUILT / f"{name}-target"
    _run([_tool("cargo"), "build", "--release", "--locked", "--target-dir", str(target)], HERE / "peers" / name)
    return [str(target / "release" / "peer")]


def _maven(name: str) -> list[str]:
    java = _tool("java")
    target = BUILT / f"{name}-target"
    _run([_tool("mvn"), "-q", "-B", "package", f"-DbuildDirectory={target}"], HERE / "peers" / name)
    return [java, "-jar", str(target / "peer.jar")]


def _venv(name: str) -> list[str]:
    """Make a virtual environment with the pinned requirements, only when these have changed."""
    wanted = HERE / "peers" / name / "requirements.txt"
    place = BUILT / f"{name}-{sha256(wanted.read_bytes()).hexdigest()[:12]}-{sys.version_info.minor}"
    python = place / "bin" / "python"
    done = place / "complete"
    if not done.exists():
        _run([sys.executable, "-m", "venv", "--clear", str(place)], HERE)
        _run([str(python), "-m", "pip", "install", "-q", "-r", str(wanted)], HERE)
        done.touch()
    return [str(python), "-m", f"peers.{name}.peer"]


def _this(name: str) -> list[str]:
    return [sys.executable, "-m", f"peers.{name}.peer"]


def _compressed(_name: str) -> list[str]:
    if find_spec("zstandard") is None:
        raise Unavailable("zstandard is not installed: pip install 'pyctrl-runtime[compression]'")
    return [*_this("pyctrl"), "--compress"]


def _podset(name: str) -> list[str]:
    return [sys.executable, "-m", f"peers.{name}.podset"]


def _go_podset(name: str) -> list[str]:
    target = BUILT / f"{name}-podset"
    _run([_tool("go"), "build", "-o", str(target), "./podset"], HERE / "peers" / name)
    return [str(target)]


def _maven_podset(name: str) -> list[str]:
    java, _, jar = _maven(name)
    return [java, "-cp", jar, "peer.PodSetOperator"]


def _venv_podset(name: str) -> list[str]:
    return _venv(f"{name}_podset")


ALL_WORK = frozenset({"cache", "reads", "reconcile"})
BOTH_KINDS, BOTH_LISTS = frozenset({"widgets", "pods"}), frozenset({"stream", "pages"})
CUSTOM = frozenset({"widgets"})

PEERS = {
    peer.name: peer
    for peer in (
        Peer("limit", _this, ALL_WORK | {"latency", "restart"}, BOTH_KINDS, BOTH_LISTS, _podset),
        Peer("pyctrl", _this, ALL_WORK | OPERATOR_WORKS, BOTH_KINDS, BOTH_LISTS, _podset),
        Peer("pyctrl-compressed", _compressed, frozenset({"cache", "reads"}), CUSTOM, BOTH_LISTS),
        Peer("controller-runtime", _go, ALL_WORK | OPERATOR_WORKS, BOTH_KINDS, BOTH_LISTS, _go_podset),
        Peer("client-go", _go, ALL_WORK, BOTH_KINDS, BOTH_LISTS),
        Peer("kube-rs", _cargo, frozenset({"cache", "reads"}), BOTH_KINDS, BOTH_LISTS),
        Peer("josdk", _maven, ALL_WORK | OPERATOR_WORKS, BOTH_KINDS, BOTH_LISTS, _maven_podset),
        # Not "latency" and "restart", whose server rejects writes: kopf records its progress in each object
        Peer("kopf", _venv, frozenset({"cache", "reconcile", "loop"}), CUSTOM, BOTH_LISTS, _venv_podset),
        Peer("kubernetes_asyncio", _venv, frozenset({"cache", "reads"}), BOTH_KINDS, BOTH_LISTS),
        Peer("kubernetes", _venv, frozenset({"cache"}), BOTH_KINDS, BOTH_LISTS),
    )
}


def environment() -> dict[str, str]:
    """Return the environment of the peers: that of this process, with this directory on the path of Python peers.

    Their bytecode is cached, like that of installed packages; otherwise pyctrl would compile its sources on each start.
    """
    paths = [str(HERE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    kept = {"PYTHONPYCACHEPREFIX": str(BUILT / "bytecode")}
    return {**ours, **kept, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
