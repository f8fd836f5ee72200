"""The admission plugin LimitRanger."""

from __future__ import annotations

from tests.unit.apiserver.admission.plugins._admitted import NAMESPACE, PODS, asking, pod


def test_containers_get_the_defaults_of_a_limit_range() -> None:
    """A container without resources gets the default limit and request; one above the maximum is refused."""
    ask = asking()
    limits = [{"type": "Container", "default": {"cpu": "200m"}, "defaultRequest": {"cpu": "100m"}, "max": {"cpu": "1"}}]
    ask("POST", f"{NAMESPACE}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": limits}})
    container = ask("POST", PODS, pod())[1]["spec"]["containers"][0]
    assert container["resources"] == {"limits": {"cpu": "200m"}, "requests": {"cpu": "100m"}}
    large = pod("q")
    large["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "2"}}
    code, status = ask("POST", PODS, large)
    assert (code, status["message"]) == (
        403,
        'pods "q" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
    )
