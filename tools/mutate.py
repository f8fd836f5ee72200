"""Make known mistakes in the sources, one at a time, and fail when the tests do not notice at least 95 % of them.

    python tools/mutate.py                           # all packages
    python tools/mutate.py cache apiserver -j 2      # two packages, two mutants at a time
    python tools/mutate.py cache --only bookmark     # the mutants with this word in their name
    python tools/mutate.py cache --list              # the names and tests, without a run

A mutant is an entry of `tools/mutants/PACKAGE.toml`:

    [[mutant]]
    name = "a bookmark does not move the resume position"   # the mistake; unique in the package
    file = "_watch_handler.py"                              # below src/pyctrl/PACKAGE
    old = 'self._advance_to(version, text)'                 # is in the file exactly once
    new = 'pass'
    tests = ["tests/unit/cache/test_watch_handler.py"]      # optional; by default the test file that mirrors `file`

The mutants are made in a copy of the repository. Results: killed (a test failed, or the tests exceeded the time limit),
survived (all tests passed), stale (the old text is not in the file exactly once), broken (the tests could not run).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
LISTS = Path(__file__).resolve().parent / "mutants"

REQUIRED = 95.0  # percent killed, in each package
COPIED = ("src", "tests", "tools", "examples", "benchmarks", "docs", "conftest.py", "pyproject.toml")
PYTEST = ("-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider", "--randomly-seed=1")
# The limit for the tests of one mutant, from the time that all tests took without one: the machine may be busy.
MINIMUM_LIMIT, LIMIT_FACTOR = 60.0, 3.0  # seconds, and a factor
PASSED, FAILED = 0, 1  # exit codes of pytest; others mean that tests could not run


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake: one text of a source file replaced by another, and the tests that should fail then."""

    package: str
    name: str
    file: str  # relative to the repository, as are the tests
    old: str
    new: str
    tests: tuple[str, ...]

    def changed(self, root: Path) -> str | None:
        """Return the text of the file with the mistake; None if the old text is not in it exactly once."""
        path = root / self.file
        text = path.read_text() if path.is_file() else ""
        return text.replace(self.old, self.new) if text.count(self.old) == 1 and self.old != self.new else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a mutant, and the test that noticed it, or the reason why there is no result."""

    mutant: Mutant
    result: str
    detail: str = ""


def read_mutants(package: str) -> list[Mutant]:
    """Return the mutants of a package. Raises SystemExit when the list has an entry of another form."""
    entries = tomllib.loads((LISTS / f"{package}.toml").read_text())["mutant"]
    return [_read_mutant(package, entry) for entry in entries]


def _read_mutant(package: str, entry: dict[str, object]) -> Mutant:
    if not {"name", "file", "old", "new"} <= set(entry) <= {"name", "file", "old", "new", "tests"}:
        sys.exit(f"tools/mutants/{package}.toml: expected name, file, old, new and optionally tests, got {entry}")
    name, file, old, new = (str(entry[field]) for field in ("name", "file", "old", "new"))
    tests = entry.get("tests") or [mirrored_test(package, file)]
    assert isinstance(tests, list)
    return Mutant(package, name, f"src/pyctrl/{package}/{file}", old, new, tuple(map(str, tests)))


def mirrored_test(package: str, file: str) -> str:
    """Return the test file of a source file: `_patch/patcher.py` has `tests/unit/apiserver/patch/test_patcher.py`."""
    *directories, name = (part.removeprefix("_") for part in Path(file).parts)
    return "/".join(("tests/unit", package, *directories, f"test_{name}"))


def packages() -> list[str]:
    """Return the packages that have a list of mutants."""
    return sorted(path.stem for path in LISTS.glob("*.toml"))


def main() -> int:
    """Run the mutants that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description="Check that the tests notice known mistakes in the sources.")
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(packages())}; all by default")
    parser.add_argument("--list", action="store_true", help="print the mutants and their tests, and exit")
    parser.add_argument("--only", metavar="TEXT", default="", help="the mutants with this text in their name")
    parser.add_argument(
        "-j", type=int, default=1, metavar="N", help="mutants at a time; each has a core of its own (1)"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.packages) - set(packages()):
        parser.error(f"there is no list for {', '.join(sorted(unknown))}; there are lists for {', '.join(packages())}")
    mutants = [mutant for package in arguments.packages or packages() for mutant in read_mutants(package)]
    mutants = [mutant for mutant in mutants if arguments.only in mutant.name]
    if not mutants:
        parser.error(f"no mutant has {arguments.only!r} in its name; --list prints the names")
    if arguments.list:
        print("\n".join(f"{each.package:12} {each.name}\n{'':13}{' '.join(each.tests)}" for each in mutants))
        return 0
    outcomes = run(mutants, ROOT, jobs=max(1, arguments.j), report=_print_outcome)
    return _print_table(outcomes)


def run(
    mutants: Sequence[Mutant], root: Path, *, jobs: int = 1, report: Callable[[Outcome], None] = lambda _: None
) -> list[Outcome]:
    """Run the tests of each mutant, in copies of ``root``; return the outcomes in order.

    Raises SystemExit when the tests fail without a mutant.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        copies = [Path(directory, str(number)) for number in range(jobs)]
        for copy in copies:
            _copy(root, copy)
        limit = _check_unchanged(mutants, copies[0])
        free: SimpleQueue[Path] = SimpleQueue()
        for copy in copies:
            free.put(copy)

        def outcome_of(mutant: Mutant) -> Outcome:
            copy = free.get()
            try:
                outcome = _try(mutant, copy, limit)
            finally:
                free.put(copy)
            report(outcome)
            return outcome

        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(outcome_of, mutants))


def _copy(root: Path, target: Path) -> None:
    target.mkdir()
    for name in COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, target / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        elif (root / name).is_file():
            shutil.copy2(root / name, target / name)


def _check_unchanged(mutants: Iterable[Mutant], copy: Path) -> float:
    """Check that the tests pass without a mutant; return the time limit for the tests of one."""
    tests = dict.fromkeys(test for mutant in mutants for test in mutant.tests)
    before = perf_counter()
    ran = _run_tests(tuple(tests), copy, None)
    if ran.returncode != PASSED:
        sys.exit(f"{ran.stdout}{ran.stderr}\nThe tests fail without a mutant: correct them, or the lists, first.")
    return max(MINIMUM_LIMIT, LIMIT_FACTOR * (perf_counter() - before))


def _try(mutant: Mutant, copy: Path, limit: float) -> Outcome:
    changed, path = mutant.changed(copy), copy / mutant.file
    if changed is None:
        return Outcome(mutant, "stale", f"the old text is not in {mutant.file} exactly once, or equals the new text")
    original = path.read_text()
    _write(path, changed)
    try:
        ran = _run_tests(mutant.tests, copy, limit)
    except subprocess.TimeoutExpired:
        return Outcome(mutant, "killed", f"the tests exceeded {limit:.0f} s")
    finally:
        _write(path, original)
    if ran.returncode == PASSED:
        return Outcome(mutant, "survived", f"no test of {' '.join(mutant.tests)} failed")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.MULTILINE)
    if ran.returncode == FAILED and failed:
        return Outcome(mutant, "killed", failed[1])
    return Outcome(mutant, "broken", f"exit code {ran.returncode}: {(ran.stdout + ran.stderr).strip()[-500:]}")


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    # Python compares seconds and sizes: it would run the compiled file of another mutant of the same second.
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def _run_tests(tests: tuple[str, ...], copy: Path, limit: float | None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(copy / "src")}  # before the installed package
    command = [sys.executable, *PYTEST, *tests]
    return subprocess.run(
        command, check=False, cwd=copy, env=environment, capture_output=True, text=True, timeout=limit
    )


def _print_outcome(outcome: Outcome) -> None:
    print(f"{outcome.result:9} {outcome.mutant.package}: {outcome.mutant.name}\n{'':10}{outcome.detail}", flush=True)


def _print_table(outcomes: Sequence[Outcome]) -> int:
    """Print the results by package; return the exit code."""
    names = list(dict.fromkeys(outcome.mutant.package for outcome in outcomes))
    columns = ("mutants", "killed", "survived", "stale", "broken")
    print("\n" + f"{'package':12}" + "".join(f"{column:>10}" for column in columns) + f"{'percent':>10}")
    is_good = True
    for name in names:
        results = Counter(outcome.result for outcome in outcomes if outcome.mutant.package == name)
        numbers = (results.total(), *(results[column] for column in columns[1:]))
        percent = 100 * results["killed"] / results.total()
        is_good &= percent >= REQUIRED and not results["stale"] and not results["broken"]
        print(f"{name:12}" + "".join(f"{number:>10}" for number in numbers) + f"{percent:>10.1f}")
    if not is_good:
        print(f"Expected {REQUIRED:.0f} % killed in each package, and no stale or broken mutant.")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
