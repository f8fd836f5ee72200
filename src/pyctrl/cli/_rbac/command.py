"""`pyctrl rbac …`: permissions of a program, generated, checked, compared and examined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import Output, ServiceAccount, ShippedProgram, WatchedNamespaces

__all__ = ["app"]

ROLES = Group("Roles", sort_key=1)

GENERATE_EPILOGUE = epilogue(
    """\
# roles, bindings and the service account of an operator
pyctrl rbac generate examples/podset/podset.py --service-account podset-system:podset-operator

# restricted to two namespaces
pyctrl rbac generate examples.podset.podset:add_podset --watch-namespace web --watch-namespace shop

# the program of this project
pyctrl rbac generate

# the least permissions with which its tests pass
pytest --rbac-record asked.json && pyctrl rbac generate --recorded asked.json
""",
    {0: "printed", 1: "failed"},
)
CHECK_EPILOGUE = epilogue(
    """\
pyctrl rbac check examples/podset/podset.py --service-account podset-system:podset-operator
""",
    {0: "everything is allowed", 1: "a permission is missing or unknown, or failed"},
)
DOCTOR_EPILOGUE = epilogue(
    """\
# find problems with the permissions of a service account, in a cluster or in files
pyctrl rbac doctor default:jenkins
pyctrl rbac doctor -f config/

# and check that it has the permissions of a program
pyctrl rbac doctor podset-system:podset-operator examples/podset/podset.py
""",
    {0: "no errors", 1: "a role or binding is broken, or failed"},
)
COMPARE_EPILOGUE = epilogue(
    """\
pytest --rbac-record asked.json && pyctrl rbac compare examples/podset/podset.py asked.json

# with roles in a file
pyctrl rbac compare --role config/rbac/role.yaml asked.json
""",
    {0: "nothing is missing", 1: "a permission is missing (with `--strict`: anything differs), or failed"},
)

app = CommandLine("rbac")


@app.command(help_epilogue=GENERATE_EPILOGUE)
def generate(
    target: ShippedProgram = None,
    /,
    *,
    recorded: Annotated[tuple[Path, ...], Parameter(group=ROLES, metavar="FILE")] = (),
    name: Annotated[str | None, Parameter(group=ROLES, metavar="NAME")] = None,
    service_account: Annotated[ServiceAccount, Parameter(group=ROLES)] = None,
    watch_namespace: Annotated[WatchedNamespaces, Parameter(group=ROLES)] = (),
    leader_election_id: Annotated[str | None, Parameter(group=ROLES, metavar="NAME")] = None,
    shards: Annotated[Literal["auto", "off"], Parameter(group=ROLES, metavar="MODE")] = "off",
    shard_memory: Annotated[Literal["auto", "label", "off"], Parameter(group=ROLES, metavar="MODE")] = "off",
    cluster: Annotated[str, Parameter(group=ROLES, metavar="NAME")] = "",
) -> None:
    """Print the roles that a program needs, as YAML.

    Derives them from what its controllers list and watch, what its reconcilers declare as `rbac`, and what else its
    manager runs. The program is imported; no cluster is contacted.

    Parameters
    ----------
    target
        `FILE.py`, `DIRECTORY` or `MODULE`, with `:FUNCTION` if there are several, or `:NAME` of anything with an
        attribute `rbac`. Defaults to `program` of `[tool.pyctrl]` in pyproject.toml.
    recorded
        Instead of a program: the requests of tests, recorded by `pytest --rbac-record FILE`. May be repeated.
    name
        The name of roles and bindings. Defaults to the controller's name with `-operator`.
    service_account
        The service account, `NAMESPACE:NAME`. It is printed, too, and the roles are bound to it. The program runs in
        its namespace.
    leader_election_id
        The name of the Lease. The program elects a leader.
    shards
        With `auto`, the program's replicas divide the objects among themselves.
    shard_memory
        Cache only this replica's objects of the kinds that it reconciles and owns. Replicas get others, and with
        `label` they label them.
    cluster
        A further cluster or fleet of the program's manager, by name. Its roles are printed instead.
    """
    from pyctrl.cli._rbac.generate import generate as print_roles  # here: help needs none of it

    print_roles(
        target,
        recorded=recorded,
        name=name,
        account=service_account,
        namespaces=watch_namespace,
        lease=leader_election_id,
        memory=None if shards == "off" else "label" if shard_memory == "label" else shard_memory == "auto",
        cluster=cluster,
    )


@app.command(help_epilogue=CHECK_EPILOGUE)
def check(
    target: ShippedProgram = None,
    /,
    *,
    service_account: ServiceAccount = None,
    watch_namespace: WatchedNamespaces = (),
    cluster: Annotated[str, Parameter(metavar="NAME")] = "",
    output: Output = "text",
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> int:
    """Check in a cluster whether a program has the permissions that it needs.

    Sends the access reviews that the manager sends at start (see `--strict-rbac`), without running the program, and
    prints how to grant what is missing.

    Parameters
    ----------
    service_account
        The service account, `NAMESPACE:NAME`. Its permissions are checked instead of the login's. Needs the permission
        to create subjectaccessreviews.
    cluster
        A further cluster or fleet of the program's manager, by name. The login is for that one.
    """
    from pyctrl.cli._rbac.check import check as review  # here: help needs none of it

    return review(target, account=service_account, watched=watch_namespace, login=login, cluster=cluster, output=output)


@app.command(help_epilogue=DOCTOR_EPILOGUE)
def doctor(
    service_account: Annotated[str | None, Parameter(metavar="ACCOUNT")] = None,
    target: Annotated[str | None, Parameter(metavar="PROGRAM")] = None,
    /,
    *,
    filename: Annotated[tuple[Path, ...], Parameter(name=("--filename", "-f"), metavar="FILE|DIR")] = (),
    watch_namespace: WatchedNamespaces = (),
    output: Output = "text",
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> int:
    """Find broken roles and bindings, and how to fix them.

    Reads a cluster or files, and changes nothing. Objects that cannot be read are reported; the rest is examined.

    Parameters
    ----------
    service_account
        Examine only this service account, `NAME` or `NAMESPACE:NAME`. Defaults to all.
    target
        A program whose permissions the account should have.
    filename
        Examine a file or directory instead of a cluster. Files of other types are searched for tokens. May be repeated.
    """
    from pyctrl.cli._rbac.doctor import doctor as examine  # here: help needs none of it

    return examine(service_account, target, files=filename, watched=watch_namespace, output=output, login=login)


@app.command(help_epilogue=COMPARE_EPILOGUE)
def compare(
    *named: Annotated[str, Parameter(metavar="PROGRAM|RECORDING")],
    role: Annotated[tuple[Path, ...], Parameter(metavar="FILE")] = (),
    watch_namespace: WatchedNamespaces = (),
    strict: bool = False,
    output: Output = "text",
) -> int:
    """Compare a program's permissions with those that tests used.

    Prints each permission that is `missing` (used but not granted), `unused` (granted but never used) or a `wildcard`.

    Parameters
    ----------
    named
        The program (left out with `--role`; defaults to `program` of `[tool.pyctrl]`), and recordings written by
        `pytest --rbac-record FILE`.
    role
        Compare with the roles in this YAML file instead of a program's. May be repeated.
    strict
        Exit with 1 if anything differs.
    """
    from pyctrl.cli._rbac.compare import compare as print_differences  # here: help needs none of it

    return print_differences(named, roles=role, namespaces=watch_namespace, strict=strict, output=output)
