"""Templates for the webhooks of a kind: defaulting, validation and conversion, each with a unit test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Literal, TypeAlias, get_args

from pyctrl.scaffold._api_templates import Api
from pyctrl.scaffold._existing_source import in_order, types_module
from pyctrl.scaffold._project import ScaffoldProject

__all__ = ["HOOKS", "AddedClass", "Hook", "added_class", "conversion_files", "hook_files", "hook_module"]

#: An admission webhook: defaulting or validation.
Hook: TypeAlias = Literal["default", "validate"]

HOOKS: tuple[Hook, ...] = get_args(Hook)

_MODULES: Mapping[str, str] = {"default": "defaults", "validate": "validation", "convert": "conversion"}

DEFAULTS = Template('''\
class ${kind}Defaults(Defaulter[$kind]):
    """Sets defaults of a $kind that field defaults in its schema cannot express."""

    def default(self, obj: $kind, request: AdmissionRequest) -> None:
        """Set an annotation with the name of the creator."""
        if request.operation is Operation.CREATE:
            obj.metadata.annotations["$group/created-by"] = request.user.username
''')

DEFAULTS_TEST = Template('''\
def test_create_sets_the_creator() -> None:
    """The annotation has the user who created the object; updates do not change it."""
    $one = sample_of($kind)
    ${kind}Defaults().default($one, admission_request($one, username="jane"))
    ${kind}Defaults().default($one, admission_request($one, old=$one, username="joe"))
    assert $one.metadata.annotations == {"$group/created-by": "jane"}
''')

VALIDATION = Template('''\
class ${kind}Validation(Validator[$kind]):
    """Validates a $kind beyond its schema. Add validate_update and validate_delete as needed."""

    def validate_create(self, obj: $kind, request: AdmissionRequest) -> None:
        """Limit the length of the name, which is the prefix of the names of owned objects."""
        if len(obj.metadata.name) > 52:  # label values have at most 63 characters
            raise Rejected(FieldError.too_long("metadata.name", 52))
''')

VALIDATION_TEST = Template('''\
def test_a_sample_is_valid() -> None:
    """The sample can be created."""
    $one = sample_of($kind)
    ${kind}Validation().validate_create($one, admission_request($one))


def test_a_long_name_is_rejected() -> None:
    """The error names the field."""
    $one = sample_of($kind)
    $one.metadata.name = "x" * 53
    with pytest.raises(Rejected) as refused:
        ${kind}Validation().validate_create($one, admission_request($one))
    assert [cause.field for cause in refused.value.causes] == ["metadata.name"]
''')

CONVERT = Template('''\
def ${source}_to_$target(obj: $source.$kind) -> $target.$kind:
    """Convert $source to $target. Fields with the same name are copied; convert the others here."""
    return same_fields(obj, $target.$kind)


''')

_HEADS = {
    "default": "The defaulting webhook of {}.",
    "validate": "The validating webhook of {}.",
}
_TEST_HEADS = {
    "default": "Unit tests of the defaulting webhook of {}.",
    "validate": "Unit tests of the validating webhook of {}.",
}
_NEEDS: Mapping[Hook, Mapping[str, Sequence[str]]] = {
    "default": {"pyctrl.webhook": ("AdmissionRequest", "Defaulter", "Operation")},
    "validate": {"pyctrl.errors": ("Rejected",), "pyctrl.webhook": ("AdmissionRequest", "FieldError", "Validator")},
}
_CLASSES = {"default": (DEFAULTS, DEFAULTS_TEST), "validate": (VALIDATION, VALIDATION_TEST)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedClass:
    """A class that is added to a file.

    Attributes:
        name: the name of the class.
        imports: the names that it imports, by module.
        text: its source.
    """

    name: str
    imports: Mapping[str, Sequence[str]]
    text: str


def added_class(api: Api, hook: Hook) -> AddedClass:
    """Return the class of a webhook."""
    template, _ = _CLASSES[hook]
    text = template.substitute(kind=api.kind, group=api.group)
    return AddedClass(name=f"{api.kind}{_MODULES[hook].capitalize()}", imports=_NEEDS[hook], text=text)


def hook_module(project: ScaffoldProject, api: Api, what: str) -> str:
    """Return the module of a webhook of a kind; ``what`` is "default", "validate" or "convert"."""
    return f"{project.package}.webhooks.{api.module}_{_MODULES[what]}"


def hook_files(project: ScaffoldProject, api: Api, hook: Hook) -> dict[str, str]:
    """Return the files of a webhook, by path; in the single-file layout only its test."""
    made, types = added_class(api, hook), types_module(project, api)
    if project.layout == "single-file":
        return _test(project, api, hook, f"from {types} import {api.kind}, {made.name}\n")
    module = hook_module(project, api, hook)
    own = f"from {types} import {api.kind}\n"
    text = f'"""{_HEADS[hook].format(api.kind)}"""\n\n{_imported(made.imports)}\n{own}\n\n{made.text}'
    return {
        f"{project.package}/webhooks/__init__.py": project.python(_PACKAGE),
        f"{module.replace('.', '/')}.py": project.python(text),
        **_test(project, api, hook, f"{own}from {module} import {made.name}\n"),
    }


_PACKAGE = '"""The webhooks."""\n'


def _test(project: ScaffoldProject, api: Api, hook: Hook, own: str) -> dict[str, str]:
    _, template = _CLASSES[hook]
    others = "import pytest\nfrom pyctrl.errors import Rejected\n" if hook == "validate" else ""
    head = f'"""{_TEST_HEADS[hook].format(api.kind)}"""\n\n{others}'
    body = template.substitute(kind=api.kind, one=api.module, group=api.group)
    text = f"{head}from pyctrl.testing import admission_request, sample_of\n\n{own}\n\n{body}"
    return {f"tests/test_{api.module}_{_MODULES[hook]}.py": project.python(text)}


def conversion_files(project: ScaffoldProject, hub: Api, spokes: Sequence[str]) -> dict[str, str]:
    """Return the files that convert a kind between its versions, by path.

    Args:
        project: a package.
        hub: the version that all others are converted to and from: the storage version.
        spokes: the other versions, sorted.
    """
    module = hook_module(project, hub, "convert")
    ordered = in_order([hub.version, *spokes])
    types = "".join(
        f"from {project.package}.api.{each} import {hub.module} as {each}\n"  # an alias for each version
        for each in ordered
    )
    return {
        f"{project.package}/webhooks/__init__.py": project.python(_PACKAGE),
        f"{module.replace('.', '/')}.py": project.python(_conversion(hub, spokes, types)),
        f"tests/test_{hub.module}_conversion.py": project.python(_conversion_test(hub, ordered, types, module)),
    }


def _conversion(hub: Api, spokes: Sequence[str], types: str) -> str:
    head = (
        f'"""Conversion of {hub.kind} between its versions, with the storage version {hub.version} as the hub."""\n\n'
    )
    functions = "".join(
        CONVERT.substitute(source=source, target=target, kind=hub.kind)
        for each in spokes
        for source, target in ((each, hub.version), (hub.version, each))
    )
    entries = "".join(
        f"    Spoke({each}.{hub.kind}, to_hub={each}_to_{hub.version}, from_hub={hub.version}_to_{each}),\n"
        for each in spokes
    )
    made = f"CONVERSION = Conversion(\n    {hub.version}.{hub.kind},\n{entries})\n"
    return f"{head}from pyctrl.webhook import Conversion, Spoke, same_fields\n\n{types}\n\n{functions}{made}"


def _conversion_test(hub: Api, versions: Sequence[str], types: str, module: str) -> str:
    checks = "".join(f"    check_round_trip(CONVERSION, sample_of({each}.{hub.kind}))\n" for each in versions)
    return (
        f'"""Unit tests of the conversion of {hub.kind}."""\n\n'
        "from pyctrl.testing import sample_of\nfrom pyctrl.webhook import check_round_trip\n\n"
        f"{types}from {module} import CONVERSION\n\n\n"
        "def test_round_trips_lose_nothing() -> None:\n"
        '    """Converting an object to another version and back does not change it."""\n'
        f"{checks}"
    )


def _imported(needs: Mapping[str, Sequence[str]]) -> str:
    return "".join(f"from {module} import {', '.join(names)}\n" for module, names in needs.items())
