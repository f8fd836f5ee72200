"""`pyctrl deploy` and `pyctrl undeploy`: a program into a cluster, and out of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from cyclopts import App, Group, Parameter

from ._durations import duration_or_none
from ._login import NO_ACCOUNT, Account
from ._ship_flags import NO_SHIP_FLAGS, ShipFlags

HOW = Group("How it is done", sort_key=0)

_Program = Annotated[str | None, Parameter(metavar="PROGRAM", negative="")]

deploy_app = App(
    name="deploy",
    help_epilogue="""\
Exit codes: 0 it is there, and available if there was to be waited; 1 it is not, and why; 2 not understood.

Examples:

```
pyctrl deploy podset.py --image registry.example/podset:0.1.0

# what would be applied
pyctrl manifests podset.py --image registry.example/podset:0.1.0 -o -
```
""",
)
undeploy_app = App(
    name="undeploy",
    help_epilogue="""\
Examples:

```
# the objects of its kinds stay, and their definitions
pyctrl undeploy podset.py

# nothing stays
pyctrl undeploy podset.py --delete-crds
```
""",
)


@deploy_app.default
def deploy(
    program: _Program = None,
    /,
    *,
    wait: Annotated[
        timedelta,
        Parameter(group=HOW, metavar="DURATION", converter=duration_or_none, show_default=lambda _: "2m"),
    ] = timedelta(minutes=2),
    flags: ShipFlags = NO_SHIP_FLAGS,
    account: Account = NO_ACCOUNT,
) -> int:
    """Apply everything that a program needs to a cluster, and wait until it runs.

    Objects are applied server-side, in an order in which each finds what it needs; what an earlier version needed and
    this one does not is removed. Definitions are never removed.

    Parameters
    ----------
    program
        `FILE.py`, `DIRECTORY` or `MODULE`; else as pyproject.toml says.
    wait
        How long to wait until all replicas are available; 0: not at all.
    """
    from ._deploying import deploy_program  # here: help needs none of it

    return deploy_program(program, flags, account, wait=wait)


@undeploy_app.default
def undeploy(
    program: _Program = None,
    /,
    *,
    delete_crds: Annotated[bool, Parameter(group=HOW, negative="")] = False,
    flags: ShipFlags = NO_SHIP_FLAGS,
    account: Account = NO_ACCOUNT,
) -> int:
    """Remove from a cluster what `pyctrl deploy` has put there.

    The namespace goes too, with what else is in it, if it was made by `pyctrl deploy`.

    Parameters
    ----------
    program
        `FILE.py`, `DIRECTORY` or `MODULE`; else as pyproject.toml says.
    delete_crds
        Also remove the definitions, and with them ALL objects of their kinds, in all namespaces.
    """
    from ._deploying import undeploy_program  # here: help needs none of it

    return undeploy_program(program, flags, account, delete_crds=delete_crds)
