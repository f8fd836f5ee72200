"""Errors of `pyctrl run`: one line and an exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.client import Config
from tests.unit.cli.conftest import Run
from tests.unit.cli.run._programs import PROGRAM


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A program whose setup prints its flags and then fails."""
    path = tmp_path / "things.py"
    path.write_text(PROGRAM.format(then="raise ValueError('no more')"))
    return path


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    """A kubeconfig of an unreachable server."""
    path = tmp_path / "kubeconfig"
    path.write_text(Config.from_token("http://127.0.0.1:1", "t").to_kubeconfig())
    return path


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("missing.py",), 1, "pyctrl: no such file: missing.py"),
        (("{file}", "--", "--size", "1"), 2, "pyctrl run {file} --: Unknown option: --size"),
        (("{file}", "--zap-log-level", "loud"), 2, 'pyctrl run: Invalid value "loud" for --zap-log-level'),
        (("{file}", "--graceful-shutdown-timeout", "soon"), 2, "'soon' is not a duration"),
        (("{file}", "--fingerprints-verify-within", "soon"), 2, "'soon' is not a duration"),
        (
            ("{file}", "--fingerprints-file", "a", "--fingerprints-config-map", "b"),
            1,
            "contradict each other; leave one out",
        ),
        (("{file}", "--fingerprints-config-map", "No"), 1, "a ConfigMap for fingerprints needs a name"),
        (("{file}:nothing",), 1, "has no function 'nothing'; it has add_things"),
        (("{file}", "--metrics-bind-address", "here"), 1, "metrics_bind_address is an address such as"),
        (("{file}", "--no-metrics-secure", "--metrics-cert-dir", "x"), 1, "contradict each other"),
        (("{file}", "--leader-elect", "--leader-election-id", "No"), 1, "a Lease needs a name"),
        (("{file}", "--shards", "some"), 2, 'Invalid value "some" for --shards'),
        (("{file}", "--shards=auto", "--shard-by", "colour"), 2, "expected uid, namespace, cluster or label=NAME"),
        (("{file}", "--shards=auto", "--shard-weight", "0"), 2, "for --shard-weight. Must be > 0"),
        (("{file}", "--shards=auto", "--shard-canary", "2"), 2, "for --shard-canary. Must be <= 1"),
        (("{file}", "--shards=auto", "--shard-canary", "0.1"), 1, "--shard-canary needs --shard-version"),
        (("{file}", "--shards=auto", "--leader-election-id", "No"), 1, "needs a name such as"),
        (("{file}", "--shard-by", "namespace"), 1, "--shard-by needs --shards=auto"),
    ],
)
def test_what_cannot_be_run_is_one_line(
    run: Run, file: Path, kubeconfig: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    """A failure is exit code 1, a usage error is exit code 2, and neither shows a traceback."""
    first, *rest = (each.format(file=file) for each in arguments)
    ran = run("run", first, "--kubeconfig", kubeconfig, *rest)
    assert ran.code == code
    assert told.format(file=file) in ran.err
    assert "Traceback" not in ran.err
