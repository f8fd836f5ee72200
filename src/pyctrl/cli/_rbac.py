"""`pyctrl rbac …`: the rights of a program, derived, compared and explained."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Group, Parameter

ROLES = Group("The roles", sort_key=1)

EPILOGUE = """\
Examples:

```
# the roles of an operator, and what binds them to its service account
pyctrl rbac generate examples/podset/podset.py --service-account podset-system:podset-operator

# one that watches two namespaces only
pyctrl rbac generate examples.podset.podset:add_podset --namespace web --namespace shop
```
"""

app = App(name="rbac", help_epilogue=EPILOGUE)


@app.command
def generate(
    target: str,
    /,
    *,
    name: Annotated[str | None, Parameter(group=ROLES, show_default=False)] = None,
    service_account: Annotated[str | None, Parameter(group=ROLES, metavar="NAMESPACE:NAME", show_default=False)] = None,
    namespace: Annotated[
        tuple[str, ...], Parameter(name=["--namespace", "-n"], group=ROLES, negative="", show_default=False)
    ] = (),
) -> None:
    """Print the roles that a program needs, as YAML.

    They follow from its wiring: what its controllers list and watch, what their reconcilers declare as `rbac`, and what
    else runs in its manager. Nothing is asked of a cluster.

    Parameters
    ----------
    target
        The program: `MODULE:FUNCTION` or `FILE.py:FUNCTION`, a function that takes a manager and wires controllers
        into it. The function may be left out where the module has one only whose name begins with `add_`. The module
        is imported.
    name
        Of roles and bindings; by default the name of the controller, followed by `-operator`.
    service_account
        Print it too, and bind the roles to it. What the operator needs in its own namespace is granted in this one.
    namespace
        The operator is restricted to this namespace, so roles are too. May be repeated.
    """
    from ._rbac_generate import generate as print_roles  # here: help needs none of it

    print_roles(target, name=name, account=service_account, namespaces=namespace)
