"""The default admission chain of a server."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ApiServer
from tests.unit.apiserver._hooks import World
from tests.unit.apiserver._kit import Asker


def test_built_in_plugins_are_enabled(ask: Asker) -> None:
    """Writes to a missing namespace and priorities of classes that do not exist are refused."""
    assert ask("POST", "/api/v1/namespaces/none/configmaps", {"metadata": {"name": "a"}})[0] == 404
    pod = {
        "metadata": {"name": "p"},
        "spec": {"priorityClassName": "none", "containers": [{"name": "c", "image": "i"}]},
    }
    code, status = ask("POST", "/api/v1/namespaces/default/pods", pod)
    assert (code, status["message"]) == (
        403,
        'pods "p" is forbidden: no PriorityClass with name none was found',
    )


def test_an_unknown_plugin_is_an_error() -> None:
    """The error names the optional plugins."""
    with pytest.raises(ValueError, match="unknown admission plugin 'Nope'; the optional plugins are OwnerReferences"):
        ApiServer(enable_admission_plugins=["Nope"])  # type: ignore[list-item]


async def test_mutating_webhooks_run_before_validating_ones(world: World) -> None:
    """The order of plugins is kube-apiserver's, independent of the configuration's."""
    await world.hook("a")
    await world.hook("z", mutating=True)
    assert (await world.create())[0] == 201
    assert world.asked == ["/z", "/a"]
