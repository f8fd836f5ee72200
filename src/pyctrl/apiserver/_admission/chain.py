"""The chain of admission: every plugin that is concerned, in order, first to change and then to check."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any, Protocol

from pyctrl.apiserver._admission.attributes import Attributes


class Plugin(Protocol):
    """A part of the server that has a say in writes. Both methods may raise `Refused`; neither may wait."""

    def concerns(self, group: str, resource: str) -> bool:
        """Whether writes to a resource are to be shown to this plugin; asked once for each resource."""
        ...

    def mutate(self, attributes: Attributes) -> None:
        """Change the object, or refuse. It is decoded and defaulted; its kind has not checked it yet.

        A custom resource may not be changed here, whose schema may have been checked before.
        """
        ...

    def validate(self, attributes: Attributes) -> None:
        """Refuse, or not. The object is as it will be stored; changing it now is wrong."""
        ...


class DynamicPlugin(Protocol):
    """What has to be asked outside, after the plugins: webhooks, and policies, which come with them."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is registered: then nobody makes a coroutine for it."""
        ...

    def mutate(self, attributes: Attributes) -> Coroutine[Any, Any, None]:
        """Change the object, or refuse."""
        ...

    def validate(self, attributes: Attributes) -> Coroutine[Any, Any, None]:
        """Refuse, or not."""
        ...


class AdmissionChain:
    """The chain of one server."""

    def __init__(self, plugins: Iterable[Plugin] = (), dynamic_plugins: Iterable[DynamicPlugin] = ()) -> None:
        self._plugins = list(plugins)
        self._dynamic_plugins = list(dynamic_plugins)
        self._concerned: dict[tuple[str, str], tuple[Plugin, ...]] = {}

    def add(self, plugin: Plugin) -> None:
        """Let one more plugin have a say, after those that are there."""
        self._plugins.append(plugin)
        self._concerned.clear()

    @property
    def has_dynamic_plugins(self) -> bool:
        """Whether somebody outside is registered: only they look at what is deleted."""
        return any(not remote.is_idle for remote in self._dynamic_plugins)

    async def mutate(self, attributes: Attributes) -> None:
        """Let everybody change the object; suspends only where a webhook must be called."""
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
        """Let everybody check the object; suspends only where a webhook must be called."""
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
