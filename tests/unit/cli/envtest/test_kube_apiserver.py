"""`kube-apiserver` of `pyctrl envtest` as a process: its help, its version, and its errors."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from pyctrl.cli._envtest.kube_apiserver import main
from tests.unit.cli.envtest._control_plane import write_certificates

PRESENT = re.compile(r"(?m)^\s*--secure-port\b")  # envtest searches flags in the help with this pattern
ABSENT = re.compile(r"(?m)^\s*--insecure-port\b")


def test_the_help_has_the_flags(assets: Path) -> None:
    """envtest finds the flags that exist in the help, and not --insecure-port, which it then leaves out."""
    ran = subprocess.run([assets / "kube-apiserver", "--help"], capture_output=True, text=True, check=True)
    assert PRESENT.search(ran.stdout)
    assert not ABSENT.search(ran.stdout)


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    """The version is that of the Kubernetes whose API is served."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "Kubernetes v1.36.2\n"


def test_a_flag_that_kube_apiserver_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown flag is refused with kube-apiserver's error and exit code."""
    assert main(["--secure-prot=1"]) == 1
    assert capsys.readouterr().err == "Error: unknown flag: --secure-prot\n"


@pytest.mark.parametrize(
    "flag",
    [
        "--service-cluster-ip-range=10.0.0.0/33",
        "--service-cluster-ip-range=fd00::/108",
        "--service-node-port-range=a-b",
        "--service-node-port-range=5-1",
        "--service-node-port-range=65530+100",
    ],
)
def test_a_range_that_cannot_be_used(flag: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A range that is none, or that the server does not have, is refused in one line that names the flag."""
    write_certificates(tmp_path)
    assert main([f"--cert-dir={tmp_path}", flag]) == 1
    error = capsys.readouterr().err
    assert flag.partition("=")[0] in error
    assert flag.partition("=")[2] in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--client-ca-file=nowhere", "--client-ca-file nowhere: No such file or directory"),
        ("--token-auth-file=nowhere", "--token-auth-file nowhere: No such file or directory"),
        ("--tls-cert-file=nowhere", "No such file or directory"),
    ],
)
def test_a_file_that_does_not_exist(
    flag: str, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The error is one line that names the flag, or the file."""
    assert main([f"--cert-dir={tmp_path}", flag]) == 1
    error = capsys.readouterr().err
    assert error.startswith("kube-apiserver: command failed: ")
    assert message in error
    assert error.count("\n") == 1
