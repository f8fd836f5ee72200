"""`pyctrl run`: the controllers of a file or a module, against a cluster."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from ._log_flags import NO_LOG_FLAGS, Logs
from ._login import NO_ACCOUNT, Account
from ._run_flags import NO_RUN_FLAGS, RunFlags

EPILOGUE = """\
A program is a function whose name begins with `add_`, which wires controllers into the manager that it is given; or,
where there is none, every Reconciler that says itself what it looks after:
`class PodSetReconciler(Reconciler[PodSet])`, with `owns` and `watches`. Keyword arguments of the function are flags,
after `--`.

It stops in order on Ctrl-C or SIGTERM, and at once on the second one.

Exit codes: 0 stopped by a signal; 1 it could not start, has failed, lost its lease, or took too long to stop, and one
line says why; 2 the flags were not understood; 130 interrupted before it ran.

Examples:

```
# against the cluster that kubectl speaks to
pyctrl run operator.py

# a package, its definitions first, in two namespaces
pyctrl run examples/podset --install-crds --namespace web,shop

# as in a Deployment
pyctrl run operators.podset:add_podset --leader-elect --zap-devel=false

# flags of the program's own
pyctrl run examples/evc -- --storage-class fast
```
"""

app = App(name="run", help_epilogue=EPILOGUE)


@app.default
def run(
    target: Annotated[str | None, Parameter(metavar="FILE|MODULE")] = None,
    /,
    *program_flags: Annotated[str, Parameter(show=False)],
    flags: RunFlags = NO_RUN_FLAGS,
    logs: Logs = NO_LOG_FLAGS,
    account: Account = NO_ACCOUNT,
) -> int:
    """Run the controllers of a file or a module against a cluster.

    Parameters
    ----------
    target
        The program: `FILE.py`, `DIRECTORY` or `MODULE`, each with `:FUNCTION` where it is not clear which one is meant.
        By default that of `[tool.pyctrl]` in pyproject.toml.
    program_flags
        Flags of the program itself.
    """
    from ._own_flags import with_own_flags  # here: help and completion need none of it
    from ._running import Running
    from ._targets import target_of

    found, named, own = target_of(target, program_flags)
    wire = with_own_flags(found.find(), own, name=found.name, command=("run", *named, "--"))
    if wire is None:
        return 0
    return Running(name=found.name, wire=wire, account=account, flags=flags, logs=logs).main()
