"""The default scenario: each kind of a program is created, each of its fields changed, deleted, and created again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path
from typing import Any

from pyctrl.api import GroupKind, GroupVersionKind
from pyctrl.apiserver import OfflineValidator
from pyctrl.client import Config
from pyctrl.controller import Controller
from pyctrl.errors import CommandFailed
from pyctrl.manager import NoServer
from pyctrl.manifests import sample
from pyctrl.program import (
    DeclaredKinds,
    ProgramManager,
    WebhookOptions,
    custom_kinds,
    find_samples,
    manifest_files,
    read_manifests,
    run_setup,
)
from pyctrl.simulation._external import External
from pyctrl.simulation._field_changes import changed_objects
from pyctrl.simulation._manifest_steps import ManifestStep
from pyctrl.simulation._scenarios import ManifestScenario
from pyctrl.simulation._simulation import takes_two

__all__ = ["default_scenario", "program_scenario"]

Json = dict[str, Any]

CHANGES = 16  # of one object; a step costs each run some milliseconds, and brings plans of its own

STANDARD = ("", "default", "kube-system", "kube-public", "kube-node-lease")  # namespaces of every cluster

PLAIN: Mapping[str, Json] = {  # samples of built-in kinds that a program may reconcile
    "ConfigMap": {"apiVersion": "v1", "data": {"key": "value"}},
    "Secret": {"apiVersion": "v1", "stringData": {"key": "value"}},
    "Namespace": {"apiVersion": "v1"},
    "Service": {"apiVersion": "v1", "spec": {"selector": {"app": "sample"}, "ports": [{"port": 80}]}},
    "Deployment": {
        "apiVersion": "apps/v1",
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "sample"}},
            "template": {
                "metadata": {"labels": {"app": "sample"}},
                "spec": {"containers": [{"name": "main", "image": "registry.example/sample:1"}]},
            },
        },
    },
}


async def program_scenario(setup: Callable[..., object], *, name: str = "the program") -> ManifestScenario:
    """Return the default scenario of a program: see `default_scenario`.

    Args:
        setup: Adds its controllers to a manager: called with a manager that never runs; or with it and the world, in
            which every `External` can be had.
        name: The program's name, for messages.

    Raises:
        CommandFailed: The setup fails, a sample cannot be read, or there is nothing to make a scenario of.
    """
    async with ProgramManager(Config.in_process(NoServer())) as manager:
        manager.webhook_options = WebhookOptions(enabled=False)
        run_setup((lambda made: setup(made, _SetupWorld())) if takes_two(setup) else setup, manager, name)
        declared = DeclaredKinds(kinds=custom_kinds(manager, manager.webhooks), webhooks=manager.webhooks)
        controllers = [each.runnable for each in manager.members if isinstance(each.runnable, Controller)]
    found = dict.fromkeys(each.kind for each in controllers if each.kind is not None)
    classes = [kind for kinds in declared.kinds.values() for kind in kinds]
    return default_scenario(
        declared,
        reconciled=[gvk for gvk in found if gvk.group_kind not in declared.kinds],
        samples=_samples_beside([*classes, setup]),
    )


class _SetupWorld:
    """The part of a world that a setup function needs."""

    def external(self, system: type[External]) -> External:
        """Return an instance."""
        return system()


def default_scenario(
    declared: DeclaredKinds, *, reconciled: Sequence[GroupVersionKind] = (), samples: Sequence[Json] = ()
) -> ManifestScenario:
    """Return the scenario that exercises the kinds that a program reconciles.

    It begins with the project's samples; a custom kind without one gets a generated one. Samples of other kinds are
    created first, and stay. Then each object of a reconciled kind is created, the first one of each kind is changed,
    field by field as its schema allows, deleted, and created again. A change is always one field of the sample: the
    field that was changed before goes back. A change that the server refuses, such as one of an immutable field, is
    left out, in each run in the same manner, and so is one of a reference to another sample: there is no other object
    to refer to. It is the same for the same samples and classes.

    Args:
        declared: The custom kinds of the program; see `pyctrl.program.declared_kinds`.
        reconciled: Built-in kinds that it reconciles.
        samples: The project's samples.

    Raises:
        CommandFailed: A built-in kind has no sample, or there is no kind at all.
    """
    definitions = declared.definitions()
    kinds = [*declared.kinds, *(gvk.group_kind for gvk in reconciled)]
    if not kinds:
        raise CommandFailed("the program reconciles no kind, so there is no default scenario; give one")
    exercised = {kind: [each for each in samples if _kind(each) == kind] for kind in kinds}
    for definition in definitions:
        name = GroupKind(definition["spec"]["group"], definition["spec"]["names"]["kind"])
        exercised[name] = exercised[name] or [sample(definition)]
    for gvk in reconciled:
        exercised[gvk.group_kind] = exercised[gvk.group_kind] or [_plain(gvk)]
    others = [each for each in samples if _kind(each) not in exercised]
    return ManifestScenario("samples", tuple(_steps(others, exercised, definitions)))


def _samples_beside(places: Iterable[Any]) -> list[Json]:
    """Return the samples of the project of classes and functions: ``config/samples`` and ``config/sample.yaml``."""
    paths: dict[Path, None] = {}
    for place in places:
        try:
            file = inspect.getsourcefile(place)
        except (OSError, TypeError):  # made by a call, or typed into a console
            continue
        paths.update(dict.fromkeys(find_samples(Path(file).resolve().parent) if file else ()))
    return [manifest.obj for path in paths for file in manifest_files(path) for manifest in read_manifests(file)]


def _kind(obj: Json) -> GroupKind:
    return GroupVersionKind.parse(obj["apiVersion"], obj["kind"]).group_kind


def _plain(gvk: GroupVersionKind) -> Json:
    known = PLAIN.get(gvk.kind)
    if known is None or known["apiVersion"] != gvk.api_version:
        raise CommandFailed(
            f"there is no sample of {gvk.kind} to begin the scenario with;"
            " add one to config/samples, or give a scenario of your own"
        )
    namespace = {} if gvk.kind == "Namespace" else {"namespace": "default"}
    return {**known, "kind": gvk.kind, "metadata": {"name": f"{gvk.kind.lower()}-sample", **namespace}}


def _steps(
    others: Sequence[Json], exercised: Mapping[GroupKind, Sequence[Json]], definitions: Sequence[Json]
) -> Iterator[ManifestStep]:
    objects = [obj for some in exercised.values() for obj in some]
    plain = [each for each in others if each["kind"] not in ("Namespace", "CustomResourceDefinition")]
    for obj in (*_namespaces(others, objects), *plain):
        yield ManifestStep(obj, rests=False)
    yield from map(ManifestStep, objects)
    firsts = [some[0] for some in exercised.values()]
    is_valid = _validity(definitions)
    names = {each["metadata"]["name"] for each in (*plain, *objects)}
    for obj in firsts:
        refers = _references_of(obj, names - {obj["metadata"]["name"]})
        fits = partial(_fits, is_valid, refers)
        for changed in changed_objects(obj, _schema(obj, definitions), fits, most=CHANGES):
            yield ManifestStep(changed, base=obj, is_optional=True)
    yield from (ManifestStep(obj, deletes=True) for obj in reversed(firsts))
    yield from map(ManifestStep, firsts)


def _fits(is_valid: Callable[[Json], bool], refers: AbstractSet[str], changed: Json) -> bool:
    return is_valid(changed) and refers <= _references_of(changed, refers)


def _references_of(obj: Json, names: AbstractSet[str]) -> set[str]:
    """Return the names of other samples that an object has as the values of fields."""
    inner = [value for field, value in obj.items() if field not in ("apiVersion", "kind", "metadata", "status")]
    found: set[str] = set()
    while inner:
        value = inner.pop()
        if isinstance(value, dict):
            inner += value.values()
        elif isinstance(value, list):
            inner += value
        elif isinstance(value, str):
            found.add(value)
    return found & names


def _namespaces(others: Sequence[Json], objects: Sequence[Json]) -> Iterator[Json]:
    """Yield the namespaces that are needed before the objects, as the samples have them or else plain ones."""
    given = {each["metadata"]["name"]: each for each in others if each["kind"] == "Namespace"}
    later = [each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"]
    named = (each["metadata"].get("namespace", "") for each in (*others, *objects))
    for name in dict.fromkeys((*given, *named)):
        if name not in (*STANDARD, *later):
            yield given.get(name) or {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _validity(definitions: Sequence[Json]) -> Callable[[Json], bool]:
    """Return a function that returns whether a server with these definitions would accept an object."""
    validator = OfflineValidator()
    for definition in definitions:
        plain = {name: value for name, value in definition["spec"].items() if name != "conversion"}  # without a server
        validator.define({**definition, "spec": plain})
    return lambda obj: not validator.validate(obj).problems


def _schema(obj: Json, definitions: Sequence[Json]) -> Json:
    """Return the OpenAPI schema of an object's kind and version; empty for built-in kinds."""
    group, _, version = obj["apiVersion"].rpartition("/")
    for definition in definitions:
        spec = definition["spec"]
        if (spec["group"], spec["names"]["kind"]) == (group, obj["kind"]):
            schemas: list[Json] = [each["schema"] for each in spec["versions"] if each["name"] == version]
            return schemas[0]["openAPIV3Schema"] if schemas else {}
    return {}
