"""Flags of `pyctrl apiserver` for authentication and authorization: webhooks and certificates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyctrl.apiserver import CertificateAuthority
from tests.unit.cli._command import apiserver
from tests.unit.cli.apiserver._served import ALONE
from tests.unit.cli.conftest import Run

pytestmark = pytest.mark.slow("starts a process, which takes up to a second")


def webhook(file: Path, **cluster: str) -> Path:
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "w"}}],
        "clusters": [{"name": "w", "cluster": cluster}],
    }
    file.write_text(json.dumps(config))
    return file


def test_webhooks_are_asked_about_users(tmp_path: Path) -> None:
    """Authentication and authorization webhooks have kube-apiserver's flags and files."""
    authority = tmp_path / "ca.crt"
    authority.write_bytes(CertificateAuthority.new().certificate)
    file = webhook(tmp_path / "webhook", server="https://127.0.0.1:1/a", **{"certificate-authority": "ca.crt"})
    flags = ("--authentication-token-webhook-config-file", file, "--authorization-webhook-config-file", file)
    with apiserver(*ALONE, *flags, "--authorization-mode", "Webhook,RBAC") as served:
        assert served.ask("GET", "/api/v1/pods", token="jane")[0] == 401
        assert served.ask("GET", "/version")[0] == 200
        code, said = served.ask("GET", "/api/v1/pods")
    asked = 'Post "https://127.0.0.1:1/a?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused'
    assert (code, said) == (500, f'Internal Server Error: "/api/v1/pods": {asked}\n')


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file or directory"),
        ("a: b: c", "expected a kubeconfig whose current context names a cluster with the webhook"),
        ("{}", "expected a kubeconfig"),
        ("[" * 60_000, "expected a kubeconfig"),
        ('{"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "gone"}}]}', "expected a kube"),
    ],
)
def test_a_file_of_a_webhook_that_is_none(run: Run, tmp_path: Path, content: str | None, said: str) -> None:
    """The error is one line with the flag, the file and the expected value."""
    file = tmp_path / "webhook"
    if content is not None:
        file.write_text(content)
    told = run("apiserver", *ALONE, "--authentication-token-webhook-config-file", file)
    assert (told.code, told.err.startswith("pyctrl: --authentication-token-webhook-config-file")) == (1, True)
    assert said in told.err


def test_a_webhook_without_its_mode(run: Run, tmp_path: Path) -> None:
    """The error names the authorization mode that the webhook's flag requires."""
    file = webhook(tmp_path / "webhook", server="https://127.0.0.1:1/a")
    told = run("apiserver", *ALONE, "--authorization-webhook-config-file", file, "--authorization-mode", "RBAC")
    assert (told.code, "an authorization webhook needs Webhook" in told.err) == (1, True)


@pytest.mark.parametrize("flag", ["--client-ca-file", "--requestheader-client-ca-file"])
def test_certificates_over_http(run: Run, tmp_path: Path, flag: str) -> None:
    """A flag about client certificates, which no client has over HTTP, is an error and not ignored."""
    (tmp_path / "ca.crt").write_text("")
    told = run("apiserver", *ALONE, flag, tmp_path / "ca.crt")
    assert (told.code, told.err) == (
        1,
        f"pyctrl: {flag} needs HTTPS: with --insecure-http no client has a certificate\n",
    )
