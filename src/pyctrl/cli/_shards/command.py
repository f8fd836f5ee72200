"""`pyctrl shards`: the replicas that divide the work of a program, and their shares."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import OUTPUT
from pyctrl.errors import CommandFailed

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
# all rings of this namespace
pyctrl shards

# one of them, drawn again whenever it changes
pyctrl shards podset -n podset-system --watch

# who works on which hashes
pyctrl shards podset -o wide

# the replicas that do not work yet, in scripts
pyctrl shards -o json | jq -r '.rings[].members[] | select(.state == "joining").name'
""",
    {0: "printed, or stopped by a signal", 1: "there is no ring, or failed"},
)

app = CommandLine("shards", help_epilogue=EPILOGUE)


@app.default
def shards(
    ring: Annotated[str | None, Parameter(metavar="RING")] = None,
    /,
    *,
    all_namespaces: Annotated[bool, Parameter(name=("--all-namespaces", "-A"), negative="")] = False,
    watch: Annotated[bool, Parameter(name=("--watch", "-w"), negative="")] = False,
    output: Annotated[
        Literal["text", "wide", "json"],
        Parameter(name=("--output", "-o"), group=OUTPUT, metavar="FORMAT"),
    ] = "text",
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> int:
    """Show how replicas divide the work of a program.

    Reads the Leases of the replicas of `pyctrl run --shards=auto`, and shows for each what it does, its share of the
    hash slots, and how much it has to do, as of its last renewal. SLOTS are those that it works on now: one that joins
    has none until all others have acknowledged it. MOVES counts the slots that it has taken and given up.

    Parameters
    ----------
    ring
        The name of the ring, which is the `--leader-election-id` of its replicas. Defaults to all of the namespace.
    all_namespaces
        All namespaces.
    watch
        Watch for changes.
    output
        Output format. `wide` adds the share of a canary, how many reconciles there were since the start and how many
        failed, the name of each replica, and the ranges of hashes that it works on.
    """
    if watch and output == "json":
        raise CommandFailed("--watch draws a table; leave out either --watch or -o json")
    from pyctrl.cli._shards.runner import ShardsRunner  # here: help and completion need none of it

    return ShardsRunner(ring=ring, watch=watch, output=output, all_namespaces=all_namespaces).run(login)
