"""Templates for a kind: its types, its controller, and a test of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import Template

from pyctrl.scaffold._deployment_templates import CONDITION, CONTROLLER, KINDS, READY, SIZE, check_image
from pyctrl.scaffold._names import check_group, check_kind, check_plural, check_version, variable_name
from pyctrl.scaffold._project import ScaffoldProject
from pyctrl.scaffold._simulation_template import simulation_files

__all__ = ["Api", "api_files", "controller_files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """A version of a kind.

    Attributes:
        group: the API group, with the domain.
        version: such as v1alpha1.
        kind: in CamelCase.
        plural: "" for the default plural of the kind.
        is_namespaced: whether the kind is namespaced.
        image: the image of the Deployment that its controller manages; "" for a controller without one.
    """

    group: str
    version: str
    kind: str
    plural: str = ""
    is_namespaced: bool = True
    image: str = ""

    @classmethod
    def checked(
        cls,
        project: ScaffoldProject,
        *,
        group: str,
        version: str,
        kind: str,
        plural: str = "",
        namespaced: bool = True,
        image: str = "",
    ) -> Api:
        """Return a kind with checked names, in a group below the project's domain.

        Raises:
            CommandFailed: a name is invalid; the message says what is expected.
        """
        check_group(group)
        check_version(version)
        check_kind(kind)
        check_plural(plural)
        if image:
            check_image(image, kind, variable_name(kind), is_namespaced=namespaced)
        whole = f"{group}.{project.domain}" if group else project.domain
        return cls(group=whole, version=version, kind=kind, plural=plural, is_namespaced=namespaced, image=image)

    @property
    def module(self) -> str:
        """The name of the kind's modules, and of variables for one of its objects."""
        return variable_name(self.kind)


TYPES = Template('''\
class ${kind}Spec(Model):
    """The desired state of a $kind."""
$size

class ${kind}Status(Model):
    """The observed state of a $kind."""

    observed_generation: Int64 = 0
$ready

class $kind(
    CustomResource[${kind}Spec, ${kind}Status],
    group="$group",
    version="$version",
$keywords):
    """$kind is the schema for the $kind API."""
''')

RECONCILER = Template('''\
class ${kind}Reconciler(Reconciler[$kind]):
    """Reconciles the actual state with the spec of each $kind."""

    rbac = (allow($kind, "patch", subresource="status"),)

    async def reconcile(self, request: Request) -> None:
        """Reconcile one $kind."""
        $one = await self.client.find($kind, request.key)
        if $one is None or is_deleting($one):
            return  # deleted: the garbage collector removes the objects it owns
        if $one.status.observed_generation != $one.metadata.generation:
            before = $one.deep_copy()
            $one.status.observed_generation = $one.metadata.generation
            await self.client.status.patch($one, merge_from(before))
''')

TEST = Template('''\
"""The $kind controller on an in-process or real cluster, with exactly the permissions that it declares."""

from pyctrl import Builder, Client, Manager, ObjectMeta
from pyctrl.client import wait_for
from pyctrl.testing import InstallKinds, UnderRole, sample_of

$imports


def wire(manager: Manager) -> None:
    Builder(manager).build(${kind}Reconciler())


async def test_the_status_follows_the_spec($fixtures) -> None:
    """The status has the generation of the spec, and no permission is missing or unused."""
    await install_kinds($package)
    async with under_role(wire$options) as operator:
        $one = sample_of($kind)
        $one.metadata = ObjectMeta($name)
        await client.create($one)
        await wait_for(
            client,
            $kind,
            $one.key,
            lambda found: $condition,
        )
        assert operator.compare().lines() == []
''')

FIXTURES = "\n    under_role: UnderRole, install_kinds: InstallKinds, client: Client, namespace: str\n"
WITH_PODS = f"{FIXTURES[:-1]}, running_pods: None\n"

LINE = 120  # the line length of generated code, as in its ruff settings


def api_files(project: ScaffoldProject, api: Api) -> dict[str, str]:
    """Return the files of a kind's types, by path, in the layout of a package."""
    package = f"{project.package}/api"
    names = ["CustomResource", *(("Int32",) if api.image else ()), "Int64", "Model"]
    types = f"{_imported(*names)}{_field(api)}\n\n{_types(api)}"
    return {
        f"{package}/__init__.py": project.python('"""The API types, by version."""\n'),
        f"{package}/{api.version}/__init__.py": project.python(f'"""The API types of version {api.version}."""\n'),
        f"{package}/{api.version}/{api.module}.py": project.python(
            f'"""The {api.kind} API of the group {api.group}."""\n\n{types}'
        ),
    }


def controller_files(project: ScaffoldProject, api: Api) -> dict[str, str]:
    """Return the files of a kind's controller, by path; in the single-file layout with its types."""
    types = f"{project.package}.api.{api.version}.{api.module}"
    controller = f"{project.package}.controllers.{api.module}"
    if project.layout == "single-file":
        imported = f"import {project.package}\nfrom {project.package} import {api.kind}, {api.kind}Reconciler"
        return {
            project.program: project.python(_whole(project, api)),
            f"tests/test_{project.package}.py": project.python(_test(project, api, imported)),
            **simulation_files(project),
        }
    imported = (
        f"import {project.package}\nfrom {types} import {api.kind}\nfrom {controller} import {api.kind}Reconciler"
    )
    text = (
        f'"""The {api.kind} controller."""\n\n'
        f"{_imported(*_controls(api))}{KINDS if api.image else ''}\n"
        f"from {types} import {api.kind}\n\n"
    )
    text += "" if api.image else "\n"  # one blank line before a constant, two before a class
    return {
        f"{project.package}/controllers/__init__.py": project.python('"""The controllers."""\n'),
        f"{project.package}/controllers/{api.module}.py": project.python(text + _reconciler(api)),
        f"tests/test_{api.module}.py": project.python(_test(project, api, imported)),
    }


def _types(api: Api) -> str:
    plural = f'    plural="{api.plural}",\n' if api.plural else ""
    scope = "" if api.is_namespaced else '    scope="Cluster",\n'
    return TYPES.substitute(
        kind=api.kind,
        group=api.group,
        version=api.version,
        keywords=plural + scope,
        size=SIZE if api.image else "",
        ready=READY if api.image else "",
    )


def _reconciler(api: Api) -> str:
    template = CONTROLLER if api.image else RECONCILER
    return template.substitute(kind=api.kind, one=api.module, label=api.kind.lower(), image=api.image)


def _test(project: ScaffoldProject, api: Api, imports: str) -> str:
    name = 'name="sample", namespace=namespace' if api.is_namespaced else 'name=f"sample-{namespace}"'
    options = ", namespaces=[namespace]" if api.is_namespaced else ""
    return TEST.substitute(
        kind=api.kind,
        one=api.module,
        imports=imports,
        package=project.package,
        name=name,
        options=options,
        fixtures=WITH_PODS if api.image else FIXTURES,
        condition=CONDITION if api.image else "found.status.observed_generation == 1",
    )


def _whole(project: ScaffoldProject, api: Api) -> str:
    head = f'"""The operator {project.name}. Run it in a local cluster with `pyctrl dev {project.package}.py`."""\n\n'
    names = ["CustomResource", *(("Int32",) if api.image else ()), "Int64", "Model", *_controls(api)]
    imports = _imported(*names) + (KINDS if api.image else "") + _field(api)
    return f"{head}{imports}\n\n{_types(api)}\n\n{_reconciler(api)}"


def _controls(api: Api) -> Iterator[str]:
    """Yield the names that a controller imports from pyctrl, sorted."""
    names = ["Reconciler", "Request", "allow", "is_deleting", "merge_from"]
    yield from sorted([*names, "ObjectMeta", "set_controller_reference"]) if api.image else names


def _imported(*names: str) -> str:
    line = f"from pyctrl import {', '.join(names)}\n"
    if len(line) - 1 <= LINE:
        return line
    return "from pyctrl import (\n" + "".join(f"    {name},\n" for name in names) + ")\n"


def _field(api: Api) -> str:
    return "from pydantic import Field\n" if api.image else ""
