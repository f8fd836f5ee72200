"""The webhooks of a kind: what fills in, what refuses, what converts; each a module, with a test without a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Literal, TypeAlias, get_args

from pyctrl.scaffold._api_templates import Api
from pyctrl.scaffold._existing_source import in_order, types_module
from pyctrl.scaffold._project import ScaffoldProject

__all__ = ["HOOKS", "AddedClass", "Hook", "added_class", "conversion_files", "hook_files", "hook_module"]

#: What an API server asks a webhook for: to fill in, or to refuse.
Hook: TypeAlias = Literal["default", "validate"]

HOOKS: tuple[Hook, ...] = get_args(Hook)

_MODULES: Mapping[str, str] = {"default": "defaults", "validate": "validation", "convert": "conversion"}

DEFAULTS = Template('''\
class ${kind}Defaults(Defaulter[$kind]):
    """Fills in what users of $kind leave out, where the defaults of its fields cannot say it."""

    def default(self, obj: $kind, request: AdmissionRequest) -> None:
        """Have each new one tell who made it."""
        if request.operation is Operation.CREATE:
            obj.metadata.annotations["$group/created-by"] = request.user.username
''')

DEFAULTS_TEST = Template('''\
def test_a_new_one_tells_who_made_it() -> None:
    """Whoever asks for it stands in an annotation, and afterwards nobody else does."""
    $one = sample_of($kind)
    ${kind}Defaults().default($one, admission_request($one, username="jane"))
    ${kind}Defaults().default($one, admission_request($one, old=$one, username="joe"))
    assert $one.metadata.annotations == {"$group/created-by": "jane"}
''')

VALIDATION = Template('''\
class ${kind}Validation(Validator[$kind]):
    """Refuses what the types of $kind cannot rule out; validate_update and validate_delete would be asked, too."""

    def validate_create(self, obj: $kind, request: AdmissionRequest) -> None:
        """Leave room in its name, with which the names of what is made for it begin."""
        if len(obj.metadata.name) > 52:  # labels hold 63
            raise Rejected(FieldError.too_long("metadata.name", 52))
''')

VALIDATION_TEST = Template('''\
def test_a_sample_may_be_made() -> None:
    """Nothing is wrong with it."""
    $one = sample_of($kind)
    ${kind}Validation().validate_create($one, admission_request($one))


def test_a_long_name_is_refused() -> None:
    """The answer names the field."""
    $one = sample_of($kind)
    $one.metadata.name = "x" * 53
    with pytest.raises(Rejected) as refused:
        ${kind}Validation().validate_create($one, admission_request($one))
    assert [cause.field for cause in refused.value.causes] == ["metadata.name"]
''')

CONVERT = Template('''\
def ${source}_to_$target(obj: $source.$kind) -> $target.$kind:
    """Say in $target what is said in $source; fields of other names are to be carried over here."""
    return same_fields(obj, $target.$kind)


''')

_HEADS = {
    "default": "What users of {} leave out, filled in before it is stored.",
    "validate": "What is refused of {}, before it is stored.",
}
_TEST_HEADS = {
    "default": "What is filled in of {}: asked as a function, which needs no server.",
    "validate": "What is refused of {}: asked as a function, which needs no server.",
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
        name: of the class.
        imports: the names that it needs, by module.
        text: of it.
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
    """Return the module that a webhook of a kind is in: what it is for is "default", "validate" or "convert"."""
    return f"{project.package}.webhooks.{api.module}_{_MODULES[what]}"


def hook_files(project: ScaffoldProject, api: Api, hook: Hook) -> dict[str, str]:
    """Return the files of a webhook, by path; in the layout of one file the test only."""
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


_PACKAGE = '"""What an API server asks about each kind before it stores something."""\n'


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
        hub: the version that all others are converted through, which is the one that is stored.
        spokes: the others, in their order.
    """
    module = hook_module(project, hub, "convert")
    ordered = in_order([hub.version, *spokes])
    types = "".join(
        f"from {project.package}.api.{each} import {hub.module} as {each}\n"  # one name for each version of the class
        for each in ordered
    )
    return {
        f"{project.package}/webhooks/__init__.py": project.python(_PACKAGE),
        f"{module.replace('.', '/')}.py": project.python(_conversion(hub, spokes, types)),
        f"tests/test_{hub.module}_conversion.py": project.python(_conversion_test(hub, ordered, types, module)),
    }


def _conversion(hub: Api, spokes: Sequence[str], types: str) -> str:
    head = f'"""{hub.kind} in each of its versions, by way of {hub.version}, which is stored."""\n\n'
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
        f'"""The versions of {hub.kind}: what one says, the others say, and back."""\n\n'
        "from pyctrl.testing import sample_of\nfrom pyctrl.webhook import check_round_trip\n\n"
        f"{types}from {module} import CONVERSION\n\n\n"
        "def test_nothing_is_lost_on_the_way() -> None:\n"
        '    """An object of each version, made one of each other and back, is what it was."""\n'
        f"{checks}"
    )


def _imported(needs: Mapping[str, Sequence[str]]) -> str:
    return "".join(f"from {module} import {', '.join(names)}\n" for module, names in needs.items())
