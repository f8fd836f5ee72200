"""Run every check of the repository, or those named, and say at the end which of them failed.

    python tools/check.py                # all
    python tools/check.py lint unit      # two of them
    python tools/check.py --list         # what there is

Run it with the Python of an environment that has the project and its `dev` group; `make test` does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

PYTEST = (sys.executable, "-m", "pytest", "-q")
SHARED_OUT = ("-n", "auto", "--dist", "worksteal")  # tests of a worker each have a cluster of their own
OUTSIDE = ("KUBEBUILDER_ASSETS", "USE_EXISTING_CLUSTER")  # name one cluster for all tests, see docs/testing.md
# pyright looks for the environment of the first `python` on the path
_ENVIRONMENT = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
_SURROUNDINGS: dict[str, Any] = {"cwd": ROOT, "env": _ENVIRONMENT, "text": True}
PYRIGHT = (sys.executable, "-m", "pyright")


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what it asks, and the command that answers with its exit code."""

    name: str
    question: str
    command: tuple[str, ...]
    uses_all_cores: bool = False  # by itself; others share the machine


def _integration() -> tuple[str, ...]:
    """Share the tests out, unless all of them use one cluster that has to be started or is somebody's."""
    shared_out = () if any(os.environ.get(name) for name in OUTSIDE) else SHARED_OUT
    return (*PYTEST, *shared_out, "tests/integration")


CHECKS = (
    Check("format", "is the code formatted?", (str(BIN / "ruff"), "format", "--check", "--output-format=concise", ".")),
    Check("lint", "is the style kept?", (str(BIN / "ruff"), "check", "--output-format=concise", ".")),
    Check("rooms", "do imports go downward, through the doors?", (str(BIN / "lint-imports"), "--no-logo")),
    Check(
        "generated",
        "is generated code what the generator makes?",
        (sys.executable, "tools/generate_kinds.py", "--check"),
    ),
    Check("types", "does everything type-check? (mypy --strict)", (sys.executable, "-m", "mypy")),
    Check("typing-tests", "do users get the types they expect? (pyright)", (*PYRIGHT, "tests/typing")),
    Check(
        "public-types",
        "is every public name typed? (pyright)",
        (*PYRIGHT, "--verifytypes", "pyctrl", "--ignoreexternal"),
    ),
    Check(
        "unit",
        "do the rooms behave, each by itself?",
        (*PYTEST, *SHARED_OUT, "tests", "--ignore=tests/integration"),
        uses_all_cores=True,
    ),
    Check("integration", "do they behave together, on a server?", _integration(), uses_all_cores=True),
    Check("docs", "do README and docs run as they are written?", (*PYTEST, "README.md", "docs")),
)


def main() -> int:
    """Run the checks named on the command line; return the exit code."""
    names = [check.name for check in CHECKS]
    parser = argparse.ArgumentParser(description="Run the checks of the repository.")
    parser.add_argument(
        "names", nargs="*", metavar="CHECK", help=f"which to run, of {', '.join(names)}; all by default"
    )
    parser.add_argument("--list", action="store_true", help="print what there is and exit")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(names):
        parser.error(f"there is no check {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if arguments.list:
        print("\n".join(f"{check.name:14} {check.question}" for check in CHECKS))
        return 0
    return _run([check for check in CHECKS if not arguments.names or check.name in arguments.names])


def _run(checks: list[Check]) -> int:
    failed = {check.name for check in _at_once([check for check in checks if not check.uses_all_cores])}
    failed |= {check.name for check in checks if check.uses_all_cores and not _passes(check)}
    print(f"\n=== {len(checks) - len(failed)} of {len(checks)} checks passed", flush=True)
    if failed:
        first, *_ = names = [check.name for check in checks if check.name in failed]
        print(f"=== failed: {', '.join(names)}; one alone: {Path(sys.executable).name} tools/check.py {first}")
    return 1 if failed else 0


def _at_once(checks: list[Check]) -> list[Check]:
    """Run checks that take one core each, as many at a time as there are; tell of them in order; return the failed."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [(check, pool.submit(_run_silently, check)) for check in checks]
        return [check for check, future in running if not _told(check, *future.result())]


def _run_silently(check: Check) -> tuple[int, float, str]:
    before = perf_counter()
    ran = subprocess.run(check.command, check=False, **_SURROUNDINGS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ran.returncode, perf_counter() - before, ran.stdout


def _passes(check: Check) -> bool:
    print(f"\n=== {check.name}: {check.question}", flush=True)
    before = perf_counter()
    code = subprocess.run(check.command, check=False, **_SURROUNDINGS).returncode
    return _judged(check, code, perf_counter() - before)


def _told(check: Check, code: int, seconds: float, output: str) -> bool:
    print(f"\n=== {check.name}: {check.question}\n{output}", end="")
    return _judged(check, code, seconds)


def _judged(check: Check, code: int, seconds: float) -> bool:
    verdict = "passed" if code == 0 else f"FAILED (exit code {code})"
    print(f"=== {check.name} {verdict} in {seconds:.1f} s", flush=True)
    return code == 0


if __name__ == "__main__":
    sys.exit(main())
