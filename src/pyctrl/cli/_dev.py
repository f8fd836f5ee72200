"""`pyctrl dev`: a program in a cluster of its own, in this process, that follows what is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Group, Parameter
from cyclopts.validators import Number

from ._log_flags import NO_LOG_FLAGS, Logs

CLUSTER = Group("The cluster", sort_key=1)
SCREEN = Group("What is shown", sort_key=2)

EPILOGUE = """\
Starts an API server with the controllers of a cluster, in memory; installs the definitions that the program's types
make; gives the program the rights that its code declares, and no others; asks its webhooks; applies the samples beside
it, `config/samples` or `config/sample.yaml`, or makes one up; and writes a kubeconfig for kubectl. On a save the
program is imported anew: objects stay as they are and caches stay filled. What cannot be imported is shown, and the old
version goes on.

On a terminal it shows objects, reconciles and errors: `q` quits, `p` pauses, `l` shows the log. Otherwise it prints
`ready URL` and `export KUBECONFIG=FILE`, and logs to stderr.

Exit codes: 0 stopped by `q` or a signal; 1 it could not start, and one line says why; 2 the flags were not understood;
130 interrupted before it was ready.

Examples:

```
pyctrl dev operator.py
pyctrl dev examples/podset

# then, in another terminal, with the line that it shows
export KUBECONFIG=~/.cache/pyctrl/operator.kubeconfig
kubectl get podsets --watch
```
"""

app = App(name="dev", help_epilogue=EPILOGUE)


@app.default
def dev(
    target: Annotated[str | None, Parameter(metavar="FILE|MODULE")] = None,
    /,
    *program_flags: Annotated[str, Parameter(show=False)],
    apply: Annotated[
        tuple[Path, ...], Parameter(group=CLUSTER, metavar="FILE|DIR", negative="", show_default=False)
    ] = (),
    samples: Annotated[bool, Parameter(group=CLUSTER, show_default=False)] = True,
    rbac: Annotated[bool, Parameter(group=CLUSTER, show_default=False)] = True,
    controllers: Annotated[bool, Parameter(group=CLUSTER, show_default=False)] = True,
    kubelet: Annotated[bool, Parameter(group=CLUSTER, show_default=False)] = True,
    port: Annotated[int, Parameter(group=CLUSTER, validator=Number(gte=0, lte=65535))] = 0,
    kubeconfig_out: Annotated[Path | None, Parameter(group=CLUSTER, metavar="FILE")] = None,
    force: Annotated[bool, Parameter(group=CLUSTER, negative="", show_default=False)] = False,
    live: Annotated[bool | None, Parameter(group=SCREEN, show_default=False)] = None,
    logs: Logs = NO_LOG_FLAGS,
) -> int:
    """Run a program in a cluster of its own, in this process, and follow what is saved.

    Parameters
    ----------
    target
        The program: `FILE.py`, `DIRECTORY` or `MODULE`, each with `:FUNCTION` where it is not clear which one is meant.
        By default that of `[tool.pyctrl]` in pyproject.toml.
    program_flags
        Flags of the program itself.
    apply
        Apply these objects, instead of the samples beside the program. May be repeated.
    samples
        Apply the samples beside the program, or one of each kind that is made up.
    rbac
        Let the program do only what its code declares.
    controllers
        Run what a controller manager does: garbage collection, Deployments and so on.
    kubelet
        Run pods on a pretend node; nothing is executed.
    port
        Where the API server listens, on 127.0.0.1; 0 takes a port that is free.
    kubeconfig_out
        Where the kubeconfig is written; else `~/.cache/pyctrl/NAME.kubeconfig`.
    force
        Let --kubeconfig-out replace any file.
    live
        Show objects, reconciles and errors. Else on a terminal only.
    """
    from ._developing import Developing  # here: help and completion need none of it
    from ._targets import target_of

    found, named, own = target_of(target, program_flags)
    return Developing(
        target=found,
        named=named,
        program_flags=own,
        apply=apply or (None if samples else ()),
        rbac=rbac,
        controllers=controllers,
        kubelet=kubelet,
        port=port,
        kubeconfig_out=kubeconfig_out,
        force=force,
        live=live,
        logs=logs,
    ).main()
