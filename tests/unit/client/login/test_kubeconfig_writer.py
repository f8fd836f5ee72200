"""What a login looks like as a kubeconfig, and which logins cannot be one."""

from __future__ import annotations

import pytest
import yaml

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.client._login.credentials import BearerToken
from pyctrl.client._login.impersonation import Impersonation
from pyctrl.client._login.kubeconfig_writer import write
from pyctrl.errors import ConfigError


def test_cluster_user_and_context_have_the_name_of_the_context() -> None:
    """A kubeconfig has one cluster, one user and one context of the given name, which is the current one."""
    document = yaml.safe_load(write(Config(server="https://kind:6443", namespace="shops"), "dev"))
    assert document == {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "dev", "cluster": {"server": "https://kind:6443"}}],
        "users": [{"name": "dev", "user": {}}],
        "contexts": [{"name": "dev", "context": {"cluster": "dev", "user": "dev", "namespace": "shops"}}],
        "current-context": "dev",
    }


def test_a_written_login_is_read_back_as_it_was() -> None:
    """Server, token and impersonation are the same after a login was written and read."""
    user = Impersonation(user="jane", groups=("admins",), extra={"team": ("a", "b")})
    config = Config(server="https://kind:6443", credentials=BearerToken("secret", origin="a test"), impersonate=user)
    read = Config.from_kubeconfig_text(write(config, "dev"))
    assert (read.server, read.impersonate) == (config.server, user)
    assert isinstance(read.credentials, BearerToken)
    assert read.credentials.to_kubeconfig_user() == {"token": "secret"}


def test_a_server_in_this_process_has_no_kubeconfig() -> None:
    """Writing the login of a server without an address says that it must be served over HTTP."""
    with pytest.raises(ConfigError, match="serve it over HTTP"):
        write(Config.in_process(ApiServer()), "dev")
