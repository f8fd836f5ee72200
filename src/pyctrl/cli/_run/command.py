"""`pyctrl run`: runs the controllers of a program against a cluster."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CONFIG_FLAGS, ConfigFlags, login_error
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._log_flags import NO_LOG_FLAGS, LogFlags
from pyctrl.cli._program_flags import program_flags_binder
from pyctrl.cli._run.flags import NO_RUN_FLAGS, RunFlags
from pyctrl.cli._shared_flags import ShippedProgram

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
# against the cluster that kubectl uses
pyctrl run operator.py

# install its CRDs first; watch two namespaces
pyctrl run examples/podset --install-crds --watch-namespace web,shop

# as in a Deployment
pyctrl run operators.podset:add_podset --leader-elect --zap-devel=false

# flags of the program itself
pyctrl run examples/evc -- --storage-class fast
""",
    {
        0: "stopped by a signal",
        1: "could not start, failed, lost its Lease, or took too long to stop",
        130: "stopped by Ctrl-C before it ran",
    },
)

app = CommandLine("run", help_epilogue=EPILOGUE)


@app.default
def run(
    target: ShippedProgram = None,
    /,
    *program_flags: Annotated[str, Parameter(show=False)],
    flags: RunFlags = NO_RUN_FLAGS,
    logs: LogFlags = NO_LOG_FLAGS,
    login: ConfigFlags = NO_CONFIG_FLAGS,
) -> int:
    """Run a program against a cluster.

    A program is a setup function, whose name begins with `add_` and which adds controllers to a manager. Without one,
    it is every Reconciler that declares the kinds it reconciles, `owns` and `watches`. Keyword arguments of the setup
    function are flags, after `--`.

    Ctrl-C or SIGTERM stops the program gracefully, a second one immediately.

    Parameters
    ----------
    program_flags
        Flags of the program itself.
    """
    from pyctrl.cli._packaging_flags import find_program  # here: help needs none of it

    program, named, own = find_program(target, program_flags)
    options = flags.with_project(program)
    bind = program_flags_binder(own, command=("run", *named, "--"))
    log_options = logs.options()
    from pyctrl.program import ProgramRunner  # here: help and completion need none of it

    runner = ProgramRunner(options=options, login=login, logs=log_options, explain=login_error)
    return runner.run(program, bind=bind)
