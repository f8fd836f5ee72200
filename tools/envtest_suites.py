"""Run the suites of a Go module, by default controller-runtime's, against `pyctrl envtest`; print how many specs pass.

    python tools/envtest_suites.py                            # all packages below pkg with tests; some minutes
    python tools/envtest_suites.py pkg/client pkg/cache       # these packages
    python tools/envtest_suites.py --assets DIRECTORY         # against other binaries
    python tools/envtest_suites.py --module sigs.k8s.io/lws@v0.7.0 test/integration/webhooks

Needs Go and its module proxy. The packages are tested one after another. The exit status is 1 if one of them fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

MODULE = "sigs.k8s.io/controller-runtime@v0.24.1"  # for Kubernetes 1.36
SUITE = re.compile(r"^(?:SUCCESS|FAIL)! -- (\d+) Passed \| (\d+) Failed \| (\d+) Pending", re.MULTILINE)
FAILED = re.compile(r"^\s*(?:\[FAIL\]|--- FAIL:) (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The specs of a package, and what failed: specs of Ginkgo and tests of Go."""

    passed: int
    failed: int
    pending: int
    failures: tuple[str, ...]
    code: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suites; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--module", default=MODULE, help=f"the module and its version (default {MODULE})")
    parser.add_argument("--assets", help="KUBEBUILDER_ASSETS; by default that of `pyctrl envtest`")
    options = parser.parse_args(arguments)
    environment = {**os.environ, "KUBEBUILDER_ASSETS": options.assets or _assets()}
    with tempfile.TemporaryDirectory(prefix="envtest-suites-") as directory:
        sources = _sources(options.module, Path(directory, "sources"))
        outcomes = list(_run_all(options.packages or _packages(sources), sources, environment))
    total = [
        sum(counts) for counts in zip(*((each.passed, each.failed, each.pending) for each in outcomes), strict=True)
    ]
    print(_row("total", *total))
    return int(any(each.code for each in outcomes))


def _assets() -> str:
    command = [sys.executable, "-m", "pyctrl", "envtest"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _sources(module: str, directory: Path) -> Path:
    """Return a writable copy of the module, because its tests write below it. Scripts are executable."""
    command = ["go", "mod", "download", "-json", module]
    downloaded = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=directory.parent).stdout)
    shutil.copytree(downloaded["Dir"], directory)
    for each in (directory, *directory.rglob("*")):
        each.chmod(0o755 if each.is_dir() or each.suffix == ".sh" else 0o644)
    return directory


def _packages(sources: Path) -> list[str]:
    return sorted({str(test.parent.relative_to(sources)) for test in sources.glob("pkg/**/*_test.go")})


def _run_all(packages: Sequence[str], sources: Path, environment: dict[str, str]) -> Iterator[Outcome]:
    print(f"{'package':<40} {'passed':>8} {'failed':>8} {'pending':>8}")
    for package in packages:
        outcome = _run(package, sources, environment)
        print(_row(package, outcome.passed, outcome.failed, outcome.pending))
        for failure in outcome.failures:
            print(f"  failed: {failure}")
        sys.stdout.flush()
        yield outcome


def _run(package: str, sources: Path, environment: dict[str, str]) -> Outcome:
    command = ["go", "test", "-v", "-count=1", "-vet=off", "-p=1", f"./{package}"]
    ran = subprocess.run(
        command, cwd=sources, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    text = re.sub(r"\x1b\[[0-9;]*m", "", ran.stdout)
    suites = [[int(number) for number in found] for found in SUITE.findall(text)]
    passed, failed, pending = (sum(counts) for counts in zip(*suites, strict=True)) if suites else (0, 0, 0)
    failures = tuple(dict.fromkeys(match.strip() for match in FAILED.findall(text)))
    if ran.returncode and not failures:
        failures = (text.strip().rpartition("\n")[2],)
    return Outcome(passed, failed, pending, failures, ran.returncode)


def _row(name: str, passed: int, failed: int, pending: int) -> str:
    return f"{name:<40} {passed:>8} {failed:>8} {pending:>8}"


if __name__ == "__main__":
    sys.exit(main())
