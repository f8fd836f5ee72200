"""Run all checks of the repository, or the named ones, and list those that failed.

    python tools/check.py                # all
    python tools/check.py lint unit      # two checks
    python tools/check.py --list         # the names of all checks

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
PARALLEL = ("-n", "auto", "--dist", "worksteal")  # the tests of each worker have their own cluster
ONE_CLUSTER = ("KUBEBUILDER_ASSETS", "USE_EXISTING_CLUSTER")  # one cluster for all tests, see docs/testing.md
# pyright looks for the environment of the first `python` on the path
_ENVIRONMENT = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
_SUBPROCESS_OPTIONS: dict[str, Any] = {"cwd": ROOT, "env": _ENVIRONMENT, "text": True}
PYRIGHT = (sys.executable, "-m", "pyright")


@dataclass(frozen=True, slots=True)
class Check:
    """A check: the question it answers, and the command whose exit code is the answer."""

    name: str
    question: str
    command: tuple[str, ...]
    uses_all_cores: bool = False  # no other check runs at the same time


def _integration() -> tuple[str, ...]:
    """Return the command: tests run in parallel, unless all of them use one cluster."""
    parallel = () if any(os.environ.get(name) for name in ONE_CLUSTER) else PARALLEL
    return (*PYTEST, *parallel, "tests/integration")


CHECKS = (
    Check("format", "is the code formatted?", (str(BIN / "ruff"), "format", "--check", "--output-format=concise", ".")),
    Check("lint", "does the code follow the style?", (str(BIN / "ruff"), "check", "--output-format=concise", ".")),
    Check("imports", "do imports follow the layers and the public APIs?", (str(BIN / "lint-imports"), "--no-logo")),
    Check(
        "generated",
        "are the generated code and charts up to date?",
        (sys.executable, "tools/check_generated.py"),
    ),
    Check("types", "does everything type-check? (mypy --strict)", (sys.executable, "-m", "mypy")),
    Check("typing-tests", "do users get the types they expect? (pyright)", (*PYRIGHT, "tests/typing", "examples")),
    Check(
        "public-types",
        "is every public name typed? (pyright)",
        (*PYRIGHT, "--verifytypes", "pyctrl", "--ignoreexternal"),
    ),
    Check("site", "does the site build, and does its search work?", (sys.executable, "tools/check_site.py")),
    Check(
        "unit",
        "does each package behave, on its own?",
        (*PYTEST, *PARALLEL, "tests", "--ignore=tests/integration"),
        uses_all_cores=True,
    ),
    Check("integration", "do the packages behave together, on a server?", _integration(), uses_all_cores=True),
    Check("examples", "do the tests of the examples pass?", (*PYTEST, *PARALLEL, "examples"), uses_all_cores=True),
    Check("docs", "do the code blocks of README and docs run?", (*PYTEST, "README.md", "docs")),
)


def main() -> int:
    """Run the checks named on the command line; return the exit code."""
    names = [check.name for check in CHECKS]
    parser = argparse.ArgumentParser(description="Run the checks of the repository.")
    parser.add_argument(
        "names", nargs="*", metavar="CHECK", help=f"checks to run, of {', '.join(names)}; all by default"
    )
    parser.add_argument("--list", action="store_true", help="print the names of all checks and exit")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(names):
        parser.error(f"there is no check {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if arguments.list:
        print("\n".join(f"{check.name:14} {check.question}" for check in CHECKS))
        return 0
    return _run([check for check in CHECKS if not arguments.names or check.name in arguments.names])


def _run(checks: list[Check]) -> int:
    failed = {check.name for check in _run_parallel([check for check in checks if not check.uses_all_cores])}
    failed |= {check.name for check in checks if check.uses_all_cores and not _passes(check)}
    print(f"\n=== {len(checks) - len(failed)} of {len(checks)} checks passed", flush=True)
    if failed:
        first, *_ = names = [check.name for check in checks if check.name in failed]
        print(f"=== failed: {', '.join(names)}; one alone: {Path(sys.executable).name} tools/check.py {first}")
    return 1 if failed else 0


def _run_parallel(checks: list[Check]) -> list[Check]:
    """Run checks that use one core each, one per core; report them in order; return those that failed."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [(check, pool.submit(_run_silently, check)) for check in checks]
        return [check for check, future in running if not _report(check, *future.result())]


def _run_silently(check: Check) -> tuple[int, float, str]:
    before = perf_counter()
    ran = subprocess.run(
        check.command, check=False, **_SUBPROCESS_OPTIONS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return ran.returncode, perf_counter() - before, ran.stdout


def _passes(check: Check) -> bool:
    print(f"\n=== {check.name}: {check.question}", flush=True)
    before = perf_counter()
    code = subprocess.run(check.command, check=False, **_SUBPROCESS_OPTIONS).returncode
    return _report_result(check, code, perf_counter() - before)


def _report(check: Check, code: int, seconds: float, output: str) -> bool:
    print(f"\n=== {check.name}: {check.question}\n{output}", end="")
    return _report_result(check, code, seconds)


def _report_result(check: Check, code: int, seconds: float) -> bool:
    result = "passed" if code == 0 else f"FAILED (exit code {code})"
    print(f"=== {check.name} {result} in {seconds:.1f} s", flush=True)
    return code == 0


if __name__ == "__main__":
    sys.exit(main())
