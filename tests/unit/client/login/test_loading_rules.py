"""The sources of a login, their order, and the error for sources without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.client._login.loading_rules import (
    SourceUnavailable,
    environment_kubeconfig,
    first_available,
    home_kubeconfig,
)
from pyctrl.errors import NoConfiguration

KUBECONFIG = "clusters: [{name: kind, cluster: {server: 'https://kind:6443'}}]\n"


def unavailable() -> str:
    raise SourceUnavailable("not set")


def test_the_first_available_source_wins() -> None:
    """The result is the first available source's, with the reasons why those before it were not used."""
    sources = (("one", unavailable), ("two", lambda: "login"), ("three", lambda: "other"))
    assert first_available(*sources, tried=[("zero", "no pod")]) == ("login", (("zero", "no pod"), ("one", "not set")))


def test_without_any_source_the_error_names_each_with_its_reason() -> None:
    """If no source is available, the error names all of them and why."""
    with pytest.raises(NoConfiguration) as caught:
        first_available(("one", unavailable), ("two", unavailable), tried=[("zero", "no pod")])
    assert all(text in str(caught.value) for text in ("zero", "no pod", "one", "two", "not set"))


def test_the_home_directory_is_not_tried_if_kubeconfig_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """KUBECONFIG hides the file in the home directory, even if the file that it names does not exist."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(KUBECONFIG)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert home_kubeconfig().names("clusters") == ["kind"]
    with pytest.raises(SourceUnavailable, match="not set"):
        environment_kubeconfig()
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(SourceUnavailable, match="KUBECONFIG is set"):
        home_kubeconfig()
    with pytest.raises(SourceUnavailable, match="no such file"):
        environment_kubeconfig()
