"""What a context of a kubeconfig means as a login, and which contexts are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.client._login.kubeconfig import Kubeconfig, KubeconfigEntry
from pyctrl.client._login.kubeconfig_context import config_for_context, impersonation, kubeconfig_contexts
from pyctrl.errors import ConfigError

TEXT = """
clusters: [{name: kind, cluster: {server: "https://kind:6443"}}]
users: [{name: jane, user: {as: admin}}]
contexts:
- {name: prod, context: {cluster: kind, user: jane, namespace: shops}}
- {name: dev, context: {cluster: kind, user: jane}}
current-context: dev
"""


@pytest.mark.parametrize(("name", "namespace"), [(None, "default"), ("prod", "shops")])
def test_a_context_gives_the_address_and_the_namespace(name: str | None, namespace: str) -> None:
    """A login has the server of its context's cluster and the namespace of the context, or else default."""
    config = config_for_context(Kubeconfig.parse(TEXT), name)
    assert (config.server, config.namespace) == ("https://kind:6443", namespace)


def test_groups_without_a_user_to_impersonate_are_an_error() -> None:
    """Groups are impersonated with a user only; an entry with neither does not impersonate."""
    assert impersonation(KubeconfigEntry("user", "jane", None, {})) is None
    with pytest.raises(ConfigError, match="require 'as'"):
        impersonation(KubeconfigEntry("user", "jane", None, {"as-groups": ["admins"]}))


def test_contexts_are_listed_by_name_and_equal_if_nothing_has_changed(tmp_path: Path) -> None:
    """The contexts of a file are sorted, and equal those of another read until an entry of theirs is changed."""
    file = tmp_path / "config"
    file.write_text(TEXT)
    before = kubeconfig_contexts(file)
    assert [context.name for context in before] == ["dev", "prod"]
    assert [context.name for context in kubeconfig_contexts(file, current_only=True)] == ["dev"]
    assert kubeconfig_contexts(file) == before
    file.write_text(TEXT.replace("shops", "orders"))
    assert [old == new for old, new in zip(before, kubeconfig_contexts(file), strict=True)] == [True, False]
