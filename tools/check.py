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
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

PYTEST = (sys.executable, "-m", "pytest", "-q")
SHARED_OUT = ("-n", "auto", "--dist", "worksteal")  # tests of a worker each have a cluster of their own
OUTSIDE = ("KUBEBUILDER_ASSETS", "USE_EXISTING_CLUSTER")  # name one cluster for all tests, see docs/testing.md
PYRIGHT = (sys.executable, "-m", "pyright")


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what it asks, and the command that answers with its exit code."""

    name: str
    question: str
    command: tuple[str, ...]


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
        "unit", "do the rooms behave, each by itself?", (*PYTEST, *SHARED_OUT, "tests", "--ignore=tests/integration")
    ),
    Check("integration", "do they behave together, on a server?", _integration()),
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
    failed = [check.name for check in checks if not _passes(check)]
    print(f"\n=== {len(checks) - len(failed)} of {len(checks)} checks passed", flush=True)
    if failed:
        print(f"=== failed: {', '.join(failed)}; one alone: {Path(sys.executable).name} tools/check.py {failed[0]}")
    return 1 if failed else 0


def _passes(check: Check) -> bool:
    print(f"\n=== {check.name}: {check.question}", flush=True)
    before = perf_counter()
    # pyright looks for the environment of the first `python` on the path
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    code = subprocess.run(check.command, cwd=ROOT, check=False, env=environment).returncode
    verdict = "passed" if code == 0 else f"FAILED (exit code {code})"
    print(f"=== {check.name} {verdict} in {perf_counter() - before:.1f} s", flush=True)
    return code == 0


if __name__ == "__main__":
    sys.exit(main())
