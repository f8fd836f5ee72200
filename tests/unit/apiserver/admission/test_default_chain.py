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


@pytest.mark.parametrize(
    ("enable", "disable", "why"),
    [
        (["Nope"], [], 'enable-admission-plugins plugin "Nope" is unknown'),
        ([], ["Nope"], 'disable-admission-plugins plugin "Nope" is unknown'),
        (
            ["LimitRanger"],
            ["LimitRanger"],
            r"\[LimitRanger\] in enable-admission-plugins and disable-admission-plugins",
        ),
        (["ImagePolicyWebhook"], [], 'init admission plugin "ImagePolicyWebhook": no config specified'),
        (["EventRateLimit"], [], "EventRateLimit.*limits: Invalid value: null: must not be empty"),
    ],
)
def test_plugins_that_cannot_be_enabled_are_an_error(enable: list[str], disable: list[str], why: str) -> None:
    """An unknown plugin, one without its configuration and one that is both enabled and disabled are refused."""
    with pytest.raises(ValueError, match=why):
        ApiServer(enable_admission_plugins=enable, disable_admission_plugins=disable)  # type: ignore[arg-type]


async def test_mutating_webhooks_run_before_validating_ones(world: World) -> None:
    """The order of plugins is kube-apiserver's, independent of the configuration's."""
    await world.hook("a")
    await world.hook("z", mutating=True)
    assert (await world.create())[0] == 201
    assert world.asked == ["/z", "/a"]
