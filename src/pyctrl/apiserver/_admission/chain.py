"""Admission chain: runs mutating and then validating admission of all plugins, in order."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any, Protocol

from pyctrl.apiserver._admission.attributes import Attributes


class Plugin(Protocol):
    """A built-in admission plugin. `mutate` and `validate` may raise a `StatusError`; they are not async."""

    def concerns(self, group: str, resource: str) -> bool:
        """Whether writes to a resource are to be shown to this plugin; asked once for each resource."""
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
        self._concerned: dict[tuple[str, str], tuple[Plugin, ...]] = {}

    def add(self, plugin: Plugin) -> None:
        """Append a plugin."""
        self._plugins.append(plugin)
        self._concerned.clear()

    @property
    def has_dynamic_plugins(self) -> bool:
        """Whether somebody outside is registered: only they look at what is deleted."""
        return any(not remote.is_idle for remote in self._dynamic_plugins)

    async def mutate(self, attributes: Attributes) -> None:
        """Run mutating admission; suspends only if a webhook must be called."""
        await self._mutate(attributes)
        if attributes.reinvocation.is_wanted:
            attributes.reinvocation.round = 1
            await self._mutate(attributes)

    async def _mutate(self, attributes: Attributes) -> None:
        for plugin in self._of(attributes):
            plugin.mutate(attributes)
        for remote in self._dynamic_plugins:
            if not remote.is_idle:
                attributes.is_mutated_dynamically = True
                await remote.mutate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Run validating admission; suspends only if a webhook must be called."""
        for plugin in self._of(attributes):
            plugin.validate(attributes)
        for remote in self._dynamic_plugins:
            if not remote.is_idle:
                await remote.validate(attributes)

    def _of(self, attributes: Attributes) -> tuple[Plugin, ...]:
        target = attributes.request.target
        key = target.group, target.resource
        found = self._concerned.get(key)
        if found is None:
            found = self._concerned[key] = tuple(each for each in self._plugins if each.concerns(*key))
        return found
