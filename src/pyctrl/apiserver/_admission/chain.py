"""Admission chain: runs mutating and then validating admission of all plugins, in order."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any, Protocol

from pyctrl.apiserver._admission.attributes import Attributes

__all__ = ["AdmissionChain", "DynamicPlugin", "Plugin"]


class Plugin(Protocol):
    """A built-in admission plugin. `mutate` and `validate` may raise a `StatusError`; they are not async."""

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the plugin handles writes of a resource; called once for each resource."""
        ...

    def mutate(self, attributes: Attributes) -> None:
        """Change or reject the object, which is decoded and defaulted but not validated yet.

        A plugin must not change a custom resource: its schema may have been validated before.
        """
        return

    def validate(self, attributes: Attributes) -> None:
        """Accept or reject the object in its final form; a plugin must not change it."""
        return


class DynamicPlugin(Protocol):
    """A plugin that may wait: webhooks, and policies, which run with them."""

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
    """The admission chain of a server.

    Args:
        plugins: The plugins that run first.
        dynamic_plugins: The plugins that run after these.
        last_plugins: The plugins that run at the end, on what the dynamic ones have made of the object.
    """

    def __init__(
        self,
        plugins: Iterable[Plugin] = (),
        dynamic_plugins: Iterable[DynamicPlugin] = (),
        last_plugins: Iterable[Plugin] = (),
    ) -> None:
        self._plugins = list(plugins)
        self._dynamic_plugins = list(dynamic_plugins)
        self._last_plugins = list(last_plugins)
        self._handlers: dict[tuple[str, str], tuple[tuple[Plugin, ...], tuple[Plugin, ...]]] = {}

    def add(self, plugin: Plugin) -> None:
        """Append a plugin to those that run first."""
        self._plugins.append(plugin)
        self._handlers.clear()

    @property
    def has_dynamic_plugins(self) -> bool:
        """Whether a dynamic plugin is configured; only those need the object of a delete."""
        return any(not plugin.is_idle for plugin in self._dynamic_plugins)

    async def mutate(self, attributes: Attributes) -> None:
        """Run mutating admission, twice if a plugin wants it; suspends only if a webhook must be called."""
        first, last = self._of(attributes)
        for plugin in first:
            plugin.mutate(attributes)
        for dynamic in self._dynamic_plugins:
            if not dynamic.is_idle:
                attributes.is_mutated_dynamically = True
                await dynamic.mutate(attributes)
        for plugin in last:
            plugin.mutate(attributes)
        if attributes.reinvocation.is_wanted and not attributes.reinvocation.round:
            attributes.reinvocation.round = 1
            await self.mutate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Run validating admission; suspends only if a webhook must be called."""
        first, last = self._of(attributes)
        for plugin in first:
            plugin.validate(attributes)
        for dynamic in self._dynamic_plugins:
            if not dynamic.is_idle:
                await dynamic.validate(attributes)
        for plugin in last:
            plugin.validate(attributes)

    async def connect(self, attributes: Attributes) -> None:
        """Run the dynamic plugins on the options of a connection; the others have nothing to check in them."""
        for dynamic in self._dynamic_plugins:
            if not dynamic.is_idle:
                await dynamic.mutate(attributes)
        for dynamic in self._dynamic_plugins:
            if not dynamic.is_idle:
                await dynamic.validate(attributes)

    def _of(self, attributes: Attributes) -> tuple[tuple[Plugin, ...], tuple[Plugin, ...]]:
        """Return the plugins that handle a resource: those that run first, and those that run last."""
        target = attributes.request.target
        key = target.group, target.resource
        found = self._handlers.get(key)
        if found is None:
            first, last = (
                tuple(each for each in plugins if each.handles(*key)) for plugins in (self._plugins, self._last_plugins)
            )
            found = self._handlers[key] = first, last
        return found
