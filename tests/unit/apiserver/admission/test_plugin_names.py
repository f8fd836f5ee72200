"""Names of admission plugins."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import enabled_plugins


def test_enabled_plugins_are_added_to_the_default_ones() -> None:
    """Plugins that are off by default run when they are enabled, and default ones do not when they are disabled."""
    plugins = enabled_plugins(["AlwaysPullImages"], ["Priority"])
    assert {"AlwaysPullImages", "LimitRanger"} <= plugins
    assert not {"Priority", "NamespaceExists"} & plugins


@pytest.mark.parametrize(
    ("enable", "disable", "why"),
    [
        (["Unknown"], [], 'enable-admission-plugins plugin "Unknown" is unknown'),
        (
            ["Priority"],
            ["Priority"],
            r"\[Priority\] in enable-admission-plugins and disable-",
        ),
    ],
)
def test_wrong_plugins_are_refused(enable: list[str], disable: list[str], why: str) -> None:
    """The error names the plugin and the flag, in kube-apiserver's words where it has them."""
    with pytest.raises(ValueError, match=why):
        enabled_plugins(enable, disable)
