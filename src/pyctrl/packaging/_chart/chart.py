"""The Helm chart of a program: the objects of `install` as templates, with settings as values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pyctrl.packaging._chart.defaults import values_of
from pyctrl.packaging._chart.objects import FULLNAME, NAMESPACE, WATCHED, actions, to_tree
from pyctrl.packaging._chart.template import Tree, to_template
from pyctrl.packaging._chart.texts import HELMIGNORE, chart_yaml, helpers, notes
from pyctrl.packaging._chart.values import Values, schema_of, values_text
from pyctrl.packaging._chart.variants import SWITCHES, Choice, all_of, condition, merge_variants
from pyctrl.packaging._objects import rbac as rbac_objects
from pyctrl.packaging._objects.parts import ObjectsOfFile, Part, parts
from pyctrl.packaging._project import Project
from pyctrl.packaging._project_reader import read_project
from pyctrl.packaging._settings import Settings
from pyctrl.program import Target

__all__ = ["CHART", "SCHEMA", "VALUES", "Chart", "read_chart"]

Object = dict[str, Any]

CHART, VALUES, SCHEMA = "Chart.yaml", "values.yaml", "values.schema.json"

_PARTS: tuple[Part, ...] = ("crd", "rbac", "manager", "webhook", "apiservice")  # without samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A Helm chart.

    Attributes:
        name: its name.
        values: its values.
        files: the files other than values.yaml and its schema, by their paths in the chart.
    """

    name: str
    values: Values
    files: Mapping[str, str]

    def texts(self, others: Mapping[str, Any] | None = None) -> dict[str, str]:
        """Return the texts of all files by their paths. The output is deterministic.

        Args:
            others: an edited values.yaml; the schema accepts the values that were added to it.
        """
        made = {VALUES: values_text(self.values), SCHEMA: schema_of(self.values, others or {})}
        return dict(sorted({**self.files, **made}.items()))


async def read_chart(settings: Settings) -> Chart:
    """Import a program, wire it once for each variant of its settings, and return its chart.

    Raises:
        CommandFailed: the program does not exist, or it cannot be wired.
        DefinitionError: no CustomResourceDefinition can be made from a type.
    """
    settings = settings.named(Target.parse(settings.target).name)
    project = await read_project(settings)
    name = settings.name
    repository, version, digest = _image(settings.image)
    kinds = [versions[0].gvk.kind for versions in project.kinds]
    plurals = [definition["metadata"]["name"] for definition in project.definitions]
    files = {
        ".helmignore": HELMIGNORE,
        CHART: chart_yaml(name, version, kinds),
        "templates/_helpers.tpl": helpers(name),
        "templates/NOTES.txt": notes(name, plurals, has_webhooks=project.webhooks is not None),
        **{f"templates/{path}": text for path, text in (await _templates(settings, project)).items()},
    }
    return Chart(name=name, values=values_of(project, repository, digest), files=files)


def _image(image: str) -> tuple[str, str, str]:
    """Return repository, tag and digest of an image."""
    rest, _, digest = image.partition("@")
    head, colon, tag = rest.rpartition(":")
    return (head, tag, digest) if colon and "/" not in tag else (rest, "latest", digest)


# -- templates -------------------------------------------------------------------------------------------------------


async def _templates(settings: Settings, project: Project) -> dict[str, str]:
    """Return the templates by their paths: one for each file of ``config/`` that has objects."""
    switches = [name for name in SWITCHES if project.webhooks is not None or name != "cert-manager"]
    choices = [
        frozenset(name for name, is_on in zip(switches, some, strict=True) if is_on)
        for some in itertools.product((True, False), repeat=len(switches))
    ]
    wired = {
        wiring: await _wired(settings, wiring) for wiring in sorted({each & _WIRED for each in choices}, key=sorted)
    }
    files: dict[str, dict[_Key, list[_Case]]] = {}
    for choice in choices:
        chosen = _chosen(wired[choice & _WIRED], choice)
        for sheet in parts(chosen, _PARTS):
            for obj in sheet.objects:
                if obj["kind"] != "Namespace":  # left to `helm install --create-namespace`
                    tree = to_tree(obj, chosen, settings.name, keep="keep" in choice)
                    files.setdefault(_path(sheet), {}).setdefault(_key(obj), []).append((choice, tree))
    switch = _switch_of(project)
    return {
        path: "".join(_object(key, cases, choices, switch(path, key), settings.name) for key, cases in found.items())
        for path, found in files.items()
    }


_Key: TypeAlias = tuple[str, str, str]  # kind, namespace, name
_Case: TypeAlias = tuple[Choice, Tree]

#: The switches that change the wiring of a program; the others change only its objects.
_WIRED = frozenset({"watch", "cert-manager"})


async def _wired(settings: Settings, wiring: Choice) -> Project:
    """Return the project of a release with placeholders as names."""
    return await read_project(
        replace(
            settings,
            name=FULLNAME,
            namespace=NAMESPACE,
            watch_namespaces=(WATCHED,) if "watch" in wiring else (),
            webhook_certificates="cert-manager" if "cert-manager" in wiring else "managed",
            args=(),
            env={},
        )
    )


def _chosen(project: Project, choice: Choice) -> Project:
    settings = replace(
        project.settings,
        shards="auto" if "sharding" in choice else "off",
        metrics=("https" if "secure" in choice else "http") if "metrics" in choice else "off",
        prometheus="prometheus" in choice,
        network_policy="network-policy" in choice,
    )
    return replace(project, settings=settings)


def _path(sheet: ObjectsOfFile) -> str:
    return sheet.path.replace("crd/bases/", "crd/").replace("default/", "metrics/")


def _key(obj: Object) -> _Key:
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _switch_of(project: Project) -> Callable[[str, _Key], str]:
    """Return a function from an object to the condition under which a release has it; "" is always."""
    named = replace(project, settings=replace(project.settings, name=FULLNAME))
    helpers = {
        role["metadata"]["name"] for kind in project.all_kinds for role in rbac_objects.kind_roles(named, kind).values()
    }

    def switch(path: str, key: _Key) -> str:
        kind, _, name = key
        match kind:
            case "CustomResourceDefinition":
                return ".Values.crds.enabled"
            case "ServiceAccount":
                return ".Values.serviceAccount.create"
            case "ClusterRole" if name in helpers:
                return all_of(".Values.rbac.create", ".Values.rbac.helpers")
        return ".Values.rbac.create" if path.startswith("rbac/") else ""

    return switch


def _object(key: _Key, cases: Sequence[_Case], choices: Sequence[Choice], switch: str, chart: str) -> str:
    """Return the template of one object."""
    is_watched = key[1] == WATCHED
    if is_watched:  # inside a loop over the watched namespaces
        choices = [choice for choice in choices if "watch" in choice]
    text = "---\n" + to_template(merge_variants(cases), actions(chart))
    if key[0] == "Service" and key[1] != NAMESPACE:
        text = _only_in(key[1]) + text
    if is_watched:
        text = f"{{{{- range $namespace := .Values.watchNamespaces }}}}\n{{{{- with $ }}}}\n{text}{_END}{_END}"
    wanted = all_of(switch, condition([choice for choice, _ in cases], choices))
    return f"{{{{- if {wanted} }}}}\n{text}{_END}" if wanted else text


def _only_in(namespace: str) -> str:
    """Return a template that fails in any namespace but that of the webhook Service that the program's code names."""
    text = f"the program expects its webhook Service in namespace {namespace}: install with --namespace {namespace}"
    return f'{{{{- if ne .Release.Namespace "{namespace}" }}}}\n{{{{- fail "{text}" }}}}\n{_END}'


_END = "{{- end }}\n"
