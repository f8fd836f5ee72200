"""Admission chain: runs mutating and then validating admission of all plugins, in order."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any, Protocol

from pyctrl.apiserver._admission.attributes import Attributes

__all__ = ["AdmissionChain", "Plugin"]


class Plugin(Protocol):
    """A built-in admission plugin. `mutate` and `validate` may raise a `StatusError`; they are not async."""

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the plugin handles writes of a resource; called once for each resource."""
        ...

    def mutate(self, attributes: Attributes) -> None:
        """Change or reject the object, which is decoded and defaulted but not validated yet.

        A plugin must not change a custom resource: its schema may have been validated before.
        """
        ...

    def validate(self, attributes: Attributes) -> None:
        """Accept or reject the object in its final form; a plugin must not change it."""
        ...


class DynamicPlugin(Protocol):
    """A plugin that runs after the built-in ones and may wait: webhooks, and policies, which run with them."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is configured; the chain then skips the plugin."""
        ...

    def mutate(self, attributes: Attributes) -> Coroutine[Any, Any, None]:
        """Change or reject the object."""
        ...

    def validate(self, attributes: Attributes) -> Coroutine[Any, Any, None]:
        """Accept or reject the object."""
        ...


class AdmissionChain:
    """The admission chain of a server."""

    def __init__(self, plugins: Iterable[Plugin] = (), dynamic_plugins: Iterable[DynamicPlugin] = ()) -> None:
        self._plugins = list(plugins)
        self._dynamic_plugins = list(dynamic_plugins)
        self._handlers: dict[tuple[str, str], tuple[Plugin, ...]] = {}

    def add(self, plugin: Plugin) -> None:
        """Append a plugin."""
        self._plugins.append(plugin)
        self._handlers.clear()

    @property
    def has_dynamic_plugins(self) -> bool:
        """Whether a dynamic plugin is configured; only those need the object of a delete."""
        return any(not plugin.is_idle for plugin in self._dynamic_plugins)

    async def mutate(self, attributes: Attributes) -> None:
        """Run mutating admission; suspends only if a webhook must be called."""
        await self._mutate(attributes)
        if attributes.reinvocation.is_wanted:
            attributes.reinvocation.round = 1
            await self._mutate(attributes)

    async def _mutate(self, attributes: Attributes) -> None:
        for plugin in self._of(attributes):
            plugin.mutate(attributes)
        for dynamic in self._dynamic_plugins:
            if not dynamic.is_idle:
                attributes.is_mutated_dynamically = True
                await dynamic.mutate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Run validating admission; suspends only if a webhook must be called."""
        for plugin in self._of(attributes):
            plugin.validate(attributes)
        for dynamic in self._dynamic_plugins:
            if not dynamic.is_idle:
                await dynamic.validate(attributes)

    def _of(self, attributes: Attributes) -> tuple[Plugin, ...]:
        target = attributes.request.target
        key = target.group, target.resource
        found = self._handlers.get(key)
        if found is None:
            found = self._handlers[key] = tuple(each for each in self._plugins if each.handles(*key))
        return found
