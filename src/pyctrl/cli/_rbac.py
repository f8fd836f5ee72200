"""`pyctrl rbac …`: the rights of a program, derived, compared and explained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from ._login import NO_FLAGS, Login

ROLES = Group("The roles", sort_key=1)
EXAMINED = Group("What is examined", sort_key=1)

EPILOGUE = """\
Examples:

```
# the roles of an operator, and what binds them to its service account
pyctrl rbac generate examples/podset/podset.py --service-account podset-system:podset-operator

# one that watches two namespaces only
pyctrl rbac generate examples.podset.podset:add_podset --namespace web --namespace shop

# whether a service account may do all that it does, in the cluster of the kubeconfig, and what to grant it
pyctrl rbac check examples/podset/podset.py --service-account podset-system:podset-operator

# what is wrong with the rights of a service account, in the cluster of the kubeconfig, or in files
pyctrl rbac doctor default:jenkins
pyctrl rbac doctor -f config/

# and whether it may do all that a program does
pyctrl rbac doctor podset-system:podset-operator examples/podset/podset.py

# what its tests asked for beside what it declares
pytest --rbac-record asked.json && pyctrl rbac compare examples/podset/podset.py asked.json
```
"""

app = App(name="rbac", help_epilogue=EPILOGUE)


@app.command
def generate(
    target: str | None = None,
    /,
    *,
    recorded: Annotated[tuple[Path, ...], Parameter(group=ROLES, metavar="FILE", negative="", show_default=False)] = (),
    name: Annotated[str | None, Parameter(group=ROLES, show_default=False)] = None,
    service_account: Annotated[str | None, Parameter(group=ROLES, metavar="NAMESPACE:NAME", show_default=False)] = None,
    namespace: Annotated[
        tuple[str, ...], Parameter(name=["--namespace", "-n"], group=ROLES, negative="", show_default=False)
    ] = (),
    leader_elect: Annotated[str | None, Parameter(group=ROLES, metavar="LEASE", show_default=False)] = None,
    cluster: Annotated[str, Parameter(group=ROLES, metavar="NAME", show_default=False)] = "",
) -> None:
    """Print the roles that a program needs, as YAML.

    They follow from its wiring: what its controllers list and watch, what their reconcilers declare as `rbac`, and what
    else runs in its manager. Nothing is asked of a cluster.

    Parameters
    ----------
    target
        The program: `MODULE:FUNCTION` or `FILE.py:FUNCTION`, a function that takes a manager and wires controllers
        into it. The function may be left out where the module has one only whose name begins with `add_`. Or anything
        with an attribute `rbac`. The module is imported.
    recorded
        Instead of a program, what tests were recorded to ask for (`pytest --rbac-record FILE`): the least that lets
        them pass. May be repeated.
    name
        Of roles and bindings; by default the name of the controller, followed by `-operator`.
    service_account
        Print it too, and bind the roles to it. What the operator needs in its own namespace is granted in this one.
    namespace
        The operator is restricted to this namespace, so roles are too. May be repeated.
    leader_elect
        The operator elects a leader by a Lease of this name in its own namespace.
    cluster
        What it needs in another cluster that it adds to its manager, or in each cluster of a fleet, instead of its own.
    """
    from ._rbac_generate import generate as print_roles  # here: help needs none of it

    print_roles(
        target,
        recorded=recorded,
        name=name,
        account=service_account,
        namespaces=namespace,
        lease=leader_elect,
        cluster=cluster,
    )


@app.command
def check(
    target: str,
    /,
    *,
    service_account: Annotated[
        str | None, Parameter(group=EXAMINED, metavar="NAMESPACE:NAME", show_default=False)
    ] = None,
    watch_namespace: Annotated[
        tuple[str, ...], Parameter(group=EXAMINED, metavar="NAME", negative="", show_default=False)
    ] = (),
    cluster: Annotated[str, Parameter(group=EXAMINED, metavar="NAME", show_default=False)] = "",
    login: Login = NO_FLAGS,
) -> int:
    """Ask a cluster whether a program may do all that it needs, and say how to grant what is missing.

    It is what the manager does at its start (see `--strict-rbac`), without starting it. Exit code 1: something is
    missing, or nobody knows.

    Parameters
    ----------
    target
        The program: `MODULE:FUNCTION` or `FILE.py:FUNCTION`, as for `pyctrl rbac generate`.
    service_account
        Whose rights are reviewed, instead of those of the login. It takes the right to create subjectaccessreviews.
    watch_namespace
        The program is restricted to this namespace. May be repeated.
    cluster
        The login is one of this other cluster that the program adds to its manager, or of one of this fleet.
    """
    from ._rbac_check import check as review  # here: help needs none of it

    return review(target, account=service_account, watched=watch_namespace, login=login, cluster=cluster)


@app.command
def doctor(
    service_account: str | None = None,
    target: str | None = None,
    /,
    *,
    filename: Annotated[
        tuple[Path, ...],
        Parameter(name=["--filename", "-f"], group=EXAMINED, metavar="FILE|DIR", negative="", show_default=False),
    ] = (),
    watch_namespace: Annotated[
        tuple[str, ...], Parameter(group=EXAMINED, metavar="NAME", negative="", show_default=False)
    ] = (),
    output: Annotated[Literal["text", "json"], Parameter(name=["--output", "-o"], group=EXAMINED)] = "text",
    login: Login = NO_FLAGS,
) -> int:
    """Find what is wrong with roles and bindings, say why, and what mends it.

    Reads a cluster, or files instead, and changes nothing. Exit code 1: something does not do what was meant. What may
    not be read is told, and the rest is examined.

    Parameters
    ----------
    service_account
        Look only at what concerns this one: `NAME` or `NAMESPACE:NAME`. Without, at everything.
    target
        A program whose rights it shall have: `MODULE:FUNCTION` or `FILE.py:FUNCTION`, as for `pyctrl rbac generate`.
    filename
        Examine the objects of this file, or of the files below this directory, instead of a cluster. In other files,
        such as programs, tokens are looked for. May be repeated.
    watch_namespace
        The program is restricted to this namespace. May be repeated.
    output
        For people or for programs.
    """
    from ._rbac_doctor import doctor as examine  # here: help needs none of it

    return examine(service_account, target, files=filename, watched=watch_namespace, output=output, login=login)


@app.command
def compare(
    *named: Annotated[str, Parameter(metavar="[TARGET] RECORDED...", show_default=False)],
    role: Annotated[tuple[Path, ...], Parameter(metavar="FILE", negative="", show_default=False)] = (),
    namespace: Annotated[tuple[str, ...], Parameter(name=["--namespace", "-n"], negative="", show_default=False)] = (),
    strict: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Compare the rights of a program with what it was recorded to ask for.

    Prints a line for each right that is `missing` (asked for and not granted), `unused` (granted and never asked for)
    or a `wildcard`, with what it was used for. The exit code is 1 if something is missing.

    Parameters
    ----------
    named
        The program, as for `generate`, and recordings: files that `pytest --rbac-record FILE` wrote.
    role
        Compare with the roles in this file of YAML, instead of those of a program. May be repeated.
    namespace
        The operator is restricted to this namespace. May be repeated.
    strict
        The exit code is 1 if anything differs.
    """
    from ._rbac_compare import compare as print_differences  # here: help needs none of it

    return print_differences(named, roles=role, namespaces=namespace, strict=strict)
