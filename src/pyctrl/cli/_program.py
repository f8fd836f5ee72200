"""The command line of one operator: what `pyctrl run` does, for a program that has a `main` of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pyctrl.cli._main import run_app

if TYPE_CHECKING:
    from cyclopts import App

    from pyctrl.manager import Wire


def program(wire: Wire, *, name: str, arguments: Sequence[str] | None = None) -> int:
    """Run an operator with the flags of ``pyctrl run``, and its own; gives the exit code.

        if __name__ == "__main__":
            sys.exit(program(add_podset, name="podset-operator"))

    The flags, messages and exit codes are those of ``pyctrl run``; keyword arguments of the function that have a
    default are flags too.

    Args:
        wire: wires the controllers into the manager that it is given.
        name: of the program, in messages; and of its Lease, unless a flag says otherwise.
        arguments: the command line; that of the process by default.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    return run_app(name, partial(_application, wire, name), arguments, is_operator=True)


def _application(wire: Wire, name: str) -> App:
    import inspect  # here and below: imports are what an interrupt may come into

    from pyctrl.cli._command_line import CommandLine
    from pyctrl.cli._log_flags import NO_LOG_FLAGS, Logs
    from pyctrl.cli._login import NO_ACCOUNT, Account
    from pyctrl.cli._own_flags import own_parameters
    from pyctrl.cli._run_flags import NO_RUN_FLAGS, RunFlags

    def run(
        *, flags: RunFlags = NO_RUN_FLAGS, logs: Logs = NO_LOG_FLAGS, account: Account = NO_ACCOUNT, **own: Any
    ) -> int:
        from pyctrl.cli._running import Running

        return Running(name=name, wire=partial(wire, **own), account=account, flags=flags, logs=logs).main()

    shared = {"flags": (RunFlags, NO_RUN_FLAGS), "logs": (Logs, NO_LOG_FLAGS), "account": (Account, NO_ACCOUNT)}
    parameters = own_parameters(wire) + [
        inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for each, (kind, default) in shared.items()
    ]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    app = CommandLine(name, help=inspect.getdoc(wire) or "", version_flags=[])
    app.default(run)
    return app
