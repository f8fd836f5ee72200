"""Order of the plugins of an admission chain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pyctrl.apiserver._admission.attributes import ReinvocationContext
from pyctrl.apiserver._admission.chain import AdmissionChain


class Recorder:
    """A plugin of configmaps, built-in or dynamic, that records its calls."""

    def __init__(self, name: str, calls: list[str], *, is_idle: bool = False, reinvokes: bool = False) -> None:
        self.name, self.calls, self.is_idle, self.reinvokes = name, calls, is_idle, reinvokes

    def handles(self, group: str, resource: str) -> bool:
        return (group, resource) == ("", "configmaps")

    def mutate(self, attributes: Any) -> Any:
        self.calls.append(f"mutate {self.name}")
        attributes.reinvocation.is_wanted = attributes.reinvocation.is_wanted or self.reinvokes
        return _nothing()

    def validate(self, attributes: Any) -> Any:
        self.calls.append(f"validate {self.name}")
        return _nothing()


class _Done:
    def __await__(self) -> Any:
        return iter(())


def _nothing() -> _Done:
    return _Done()


def _attributes(resource: str = "configmaps") -> Any:
    request = SimpleNamespace(target=SimpleNamespace(group="", resource=resource))
    return SimpleNamespace(request=request, reinvocation=ReinvocationContext(), is_mutated_dynamically=False)


async def test_dynamic_plugins_run_after_the_built_in_ones() -> None:
    """Idle plugins and those of other resources are skipped."""
    calls: list[str] = []
    chain = AdmissionChain([Recorder("a", calls)], [Recorder("idle", calls, is_idle=True), Recorder("hook", calls)])
    chain.add(Recorder("b", calls))
    attributes = _attributes()
    await chain.mutate(attributes)
    await chain.validate(attributes)
    await chain.mutate(_attributes("secrets"))
    assert calls == [
        *("mutate a", "mutate b", "mutate hook"),
        *("validate a", "validate b", "validate hook"),
        "mutate hook",
    ]
    assert attributes.is_mutated_dynamically
    assert chain.has_dynamic_plugins
    assert not AdmissionChain([], [Recorder("idle", calls, is_idle=True)]).has_dynamic_plugins


async def test_a_change_of_a_webhook_runs_mutating_admission_again() -> None:
    """The second round is the last one."""
    calls: list[str] = []
    attributes = _attributes()
    await AdmissionChain([Recorder("a", calls)], [Recorder("hook", calls, reinvokes=True)]).mutate(attributes)
    assert calls == ["mutate a", "mutate hook"] * 2
    assert attributes.reinvocation.round == 1
