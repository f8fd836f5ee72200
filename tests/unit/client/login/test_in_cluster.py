"""The login of a pod: what its environment and its service account say."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.client._login.in_cluster import in_cluster, namespace_of
from pyctrl.errors import ConfigError


@pytest.mark.parametrize(
    ("host", "server"), [("10.0.0.1", "https://10.0.0.1:443"), ("fd00::1", "https://[fd00::1]:443")]
)
def test_the_server_is_the_one_that_kubelet_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, server: str
) -> None:
    """A pod's login has the address in its environment, with brackets around IPv6, and the mounted namespace."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.delenv("POD_NAMESPACE", raising=False)
    (tmp_path / "token").write_text("secret\n")
    (tmp_path / "namespace").write_text("shops\n")
    config = in_cluster(tmp_path)
    assert (config.server, config.namespace) == (server, "shops")


def test_outside_of_a_pod_the_error_names_the_missing_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the variables of kubelet there is no login, and the error says that this is no pod."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ConfigError, match="this is not a pod: KUBERNETES_SERVICE_HOST"):
        in_cluster()


def test_the_namespace_is_the_downward_apis_then_the_mounted_one_then_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """POD_NAMESPACE wins over the mounted file, and without both the namespace is default."""
    monkeypatch.delenv("POD_NAMESPACE", raising=False)
    assert namespace_of(tmp_path) == "default"
    (tmp_path / "namespace").write_text("shops\n")
    assert namespace_of(tmp_path) == "shops"
    monkeypatch.setenv("POD_NAMESPACE", "orders")
    assert namespace_of(tmp_path) == "orders"
