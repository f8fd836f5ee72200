"""Entry points of the command line: run a command, and turn errors into one line and an exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts import App, Argument, CycloptsError

    from pyctrl.program import SetupFunction

__all__ = ["main", "program"]


TRACEBACK = "--traceback"

GARBAGE_THRESHOLD = 50_000  # objects; collections during imports took 8 % of the start


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process; return the exit code.

    0: done, or stopped by Ctrl-C or SIGTERM after it was ready. 1: failed, with one line on stderr; ``--traceback``
    prints the traceback. 2: the command line is invalid.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    command = next((each for each in arguments if each != TRACEBACK), "")
    return run_app("pyctrl", _pyctrl, arguments, is_operator=command == "run")


def _pyctrl() -> App:
    from pyctrl.cli._commands import app  # here: signals are handled during imports

    return app


def run_app(name: str, make: Callable[[], App], arguments: Sequence[str], *, is_operator: bool) -> int:
    """Run a command line of an application, as `main` does. The application is created after signals are handled.

    From here on SIGTERM stops an operator gracefully, with exit code 0, also during imports. Process 1 of a container
    ignores the signal until it has a handler, and would be killed after the grace period of the pod.
    """
    # Until a command handles it, Ctrl-C ends the process, also during imports.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    early = _EarlyStop() if is_operator else None
    gc.set_threshold(GARBAGE_THRESHOLD)
    try:
        code = _guarded(name, make, arguments, is_stopped=lambda: early is not None and early.is_stopped)
    except SystemExit:
        if early is None or not early.is_stopped:
            raise
        code = 0
    finally:
        if early is not None:
            early.close()
    if early is not None and early.is_stopped:
        print(f"{name}: stopped by SIGTERM before it ran", file=sys.stderr)
        return 0
    return code


class _EarlyStop:
    """Exits on SIGTERM, until an event loop handles the signal."""

    def __init__(self) -> None:
        self.is_stopped: bool = False  # also if the program turned the exception into another one
        self._before = signal.signal(signal.SIGTERM, self._stop)

    def close(self) -> None:
        """Restore the previous handler."""
        signal.signal(signal.SIGTERM, self._before or signal.SIG_DFL)

    def _stop(self, number: int, frame: object) -> None:
        self.is_stopped = True
        raise SystemExit(0)  # an event loop re-raises it and cancels its tasks


def _guarded(name: str, make: Callable[[], App], arguments: Sequence[str], *, is_stopped: Callable[[], bool]) -> int:
    tokens = [token for token in arguments if token != TRACEBACK]
    try:
        code = _run(name, make, tokens)
        sys.stdout.flush()
    except BrokenPipeError:
        from pyctrl.cli._command_line import FAILED  # here and below: imports cyclopts

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # otherwise Python reports the error at exit
        return FAILED
    except Exception as error:
        if is_stopped():
            return 0
        if len(tokens) < len(arguments):
            raise
        return _explain(name, error)
    return code


def _run(name: str, make: Callable[[], App], tokens: list[str]) -> int:
    from cyclopts import CycloptsError

    from pyctrl.cli._command_line import MISUSED

    app = make()
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        command = " ".join([name, *(error.command_chain or ())])
        print(f"{command}: {_misuse(error)}\nTry '{command} --help'.", file=sys.stderr)
        return MISUSED
    return code if isinstance(code, int) else 0


def _misuse(error: CycloptsError) -> str:
    """Return what is wrong with a command line. An unknown option is reported as such, not as an invalid value."""
    from cyclopts import UnknownCommandError, UnknownOptionError, UnusedCliTokensError

    from pyctrl.cli._flag_names import unknown_option

    if isinstance(error, UnknownOptionError):
        return unknown_option(error.token.keyword or error.token.value, _options(error))
    if option := getattr(getattr(error, "__cause__", None), "option", ""):  # of our own checks
        message = unknown_option(option, _options(error))
        return f"{message}{'' if message.endswith('?') else '.'} A file of that name is ./{option}"
    unused = list(getattr(error, "unused_tokens", None) or [""])
    if isinstance(error, UnknownCommandError) and unused[0].startswith("-"):
        return unknown_option(unused[0], _options(error))
    if isinstance(error, UnusedCliTokensError):
        return f"unexpected argument{'s' if len(unused) > 1 else ''} {', '.join(map(repr, unused))}"
    return _sentence(error)


def _options(error: CycloptsError) -> list[str]:
    """Return the names of the flags of the command that an error is about."""
    app = error.app
    if app is None:
        return []
    arguments = app.assemble_argument_collection() if app.default_command is not None else ()
    flags = [name for argument in arguments for name in argument.names if name.startswith("-")]
    return [*flags, *app.version_flags]


def _sentence(error: Exception) -> str:
    """Return a message as one line, without its full stop."""
    from cyclopts import MissingArgumentError

    if isinstance(error, MissingArgumentError) and error.argument is not None:
        return _missing_argument(error.argument, error.keyword)
    return " ".join(str(error).split()).removesuffix(".")


def _missing_argument(argument: Argument, flag: str | None) -> str:
    value = argument.parameter.metavar or argument.name
    if argument.index is not None:
        return f"{value} is missing"
    return f"{flag} needs a value, {value}" if flag else f"{argument.name} {value} is missing"


def _explain(name: str, error: Exception) -> int:
    from pyctrl.cli._command_line import FAILED
    from pyctrl.errors import PyctrlError

    if isinstance(error, PyctrlError | OSError):
        print(f"{name}: {error}", file=sys.stderr)
    else:
        kind = type(error).__name__
        print(f"{name}: {kind}: {_sentence(error)} (this is a bug; {TRACEBACK} shows where)", file=sys.stderr)
    return FAILED


def program(setup: SetupFunction, *, name: str, arguments: Sequence[str] | None = None) -> int:
    """Run an operator with the flags of ``pyctrl run`` and its own; return the exit code.

        if __name__ == "__main__":
            sys.exit(program(add_podset, name="podset-operator"))

    The flags, messages and exit codes are those of ``pyctrl run``; keyword arguments of the function that have a
    default are flags too.

    Args:
        setup: adds the controllers to the manager that it is given.
        name: the name of the program, in messages, and of its Lease by default.
        arguments: the command line; None: that of the process.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    return run_app(name, partial(_application, setup, name), arguments, is_operator=True)


def _application(setup: SetupFunction, name: str) -> App:
    import inspect  # here and below: signals are handled during imports

    from pyctrl.cli._client_flags import NO_CONFIG_FLAGS, ConfigFlags, login_error
    from pyctrl.cli._command_line import CommandLine
    from pyctrl.cli._log_flags import NO_LOG_FLAGS, LogFlags
    from pyctrl.cli._program_flags import program_parameters
    from pyctrl.cli._run.flags import NO_RUN_FLAGS, RunFlags

    def run(
        *,
        flags: RunFlags = NO_RUN_FLAGS,
        logs: LogFlags = NO_LOG_FLAGS,
        account: ConfigFlags = NO_CONFIG_FLAGS,
        **own: Any,
    ) -> int:
        log_options = logs.options()
        from pyctrl.program import ProgramRunner  # here: help needs none of it

        runner = ProgramRunner(options=flags, login=account, logs=log_options, explain=login_error)
        return runner.run_setup(partial(setup, **own), name)

    shared = {  # names that the program's own flags cannot have
        "flags": (RunFlags, NO_RUN_FLAGS),
        "logs": (LogFlags, NO_LOG_FLAGS),
        "account": (ConfigFlags, NO_CONFIG_FLAGS),
    }
    parameters = program_parameters(setup) + [
        inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for each, (kind, default) in shared.items()
    ]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    app = CommandLine(name, help=inspect.getdoc(setup) or "", version_flags=[])
    app.default(run)
    return app
