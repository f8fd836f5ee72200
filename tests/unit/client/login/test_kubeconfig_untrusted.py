"""Untrusted kubeconfigs, as in Secrets: their content can neither harm nor exploit this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pyctrl.client._login.config import Config
from pyctrl.client._login.credentials import TokenFile
from pyctrl.client._login.exec import ExecCredentials
from pyctrl.errors import ConfigError
from tests.unit.client.login.test_kubeconfig import document

BOMB = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 60))])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 60_000, "nested more than 100 levels deep"),
        ("{a: " * 60_000, "nested more than 100 levels deep"),
        ("- " * 60_000, "nested more than 100 levels deep"),
        (f"{BOMB}\nclusters: [{{name: a, cluster: {{server: *a59}}}}]", "more than 100000 values"),
        ("- a\n" * 200_000, "more than 100000 values"),
        ("clusters: &a [*a]", "the anchor a contains itself"),
        (f"clusters: {'x' * 5 * 1024 * 1024}", "the limit is 4194304"),
    ],
    ids=["lists", "maps", "blocks", "bomb", "wide", "cycle", "long"],
)
def test_a_hostile_kubeconfig_is_refused(text: str, why: str) -> None:
    """Extreme depth, aliases that expand to millions of nodes, and excessive size are errors."""
    with pytest.raises(ConfigError, match=f"the given kubeconfig is not a kubeconfig: .*{why}"):
        Config.from_kubeconfig_text(text)


def test_aliases_may_be_used() -> None:
    """Ordinary aliases are accepted."""
    text = yaml.safe_dump(document(user={"token": "t"})).replace("token: t", "token: &t t\n    as: *t")
    assert Config.from_kubeconfig_text(text).impersonate is not None


OIDC = {"idp-issuer-url": "https://i", "client-id": "me"}


@pytest.mark.parametrize(
    ("content", "needs"),
    [
        ({"user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh"}}}, "the program 'sh'"),
        ({"user": {"tokenFile": "token"}}, "tokenFile reads the file 'token'"),
        ({"user": {"client-certificate": "c", "client-key": "k"}}, "client-certificate reads the file 'c'"),
        ({"user": {"client-certificate-data": "Yw==", "client-key": "k"}}, "client-key reads the file 'k'"),
        ({"cluster": {"certificate-authority": "ca"}}, "certificate-authority reads the file 'ca'"),
        (
            {"user": {"auth-provider": {"name": "oidc", "config": {**OIDC, "idp-certificate-authority": "ca"}}}},
            "idp-certificate-authority reads the file 'ca'",
        ),
    ],
    ids=["exec", "token", "certificate", "key", "authority", "issuer"],
)
def test_a_kubeconfig_of_others_runs_and_reads_nothing(content: dict[str, Any], needs: str) -> None:
    """An untrusted kubeconfig that names programs or files of this machine is refused."""
    text = yaml.safe_dump(document(**content))
    with pytest.raises(ConfigError, match=f"{needs}; .* pass trusted=True"):
        Config.from_kubeconfig_text(text)


def test_a_trusted_kubeconfig_may_name_programs_and_files(tmp_path: Path) -> None:
    """A trusted kubeconfig as text may name programs and files, as a file on disk may."""
    (tmp_path / "token").write_text("t1")
    text = yaml.safe_dump(document(user={"tokenFile": str(tmp_path / "token")}))
    assert isinstance(Config.from_kubeconfig_text(text, trusted=True).credentials, TokenFile)
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws"}
    text = yaml.safe_dump(document(user={"exec": plugin}))
    assert isinstance(Config.from_kubeconfig_text(text, trusted=True).credentials, ExecCredentials)
