"""The configured webhooks, in call order."""

from __future__ import annotations

from tests.unit.apiserver._hooks import World, patching


async def test_webhooks_are_called_in_the_order_of_configurations_and_again_where_they_ask_for_it(
    world: World,
) -> None:
    """A webhook with reinvocationPolicy IfNeeded is called again if a later one changes the object."""
    world.replies["/b"] = patching({"op": "add", "path": "/data/b", "value": "1"})
    await world.hook("b", mutating=True)
    await world.hook("a", {"reinvocationPolicy": "IfNeeded"}, mutating=True)
    await world.hook("c", {"reinvocationPolicy": "IfNeeded"}, mutating=True)
    await world.create(data={"x": "y"})
    assert world.asked == ["/a", "/b", "/c", "/a"]
