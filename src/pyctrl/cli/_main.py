"""The way of a command line: find the command, run it, and turn what goes wrong into one line and an exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts import App, Argument, CycloptsError, UnknownCommandError

    from pyctrl.program import SetupFunction


TRACEBACK = "--traceback"

GARBAGE_THRESHOLD = 50_000  # objects; imports make many that stay, and looking at them took 8 % of the start


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; those of the process by default. Gives the exit code.

    0: done, or stopped by Ctrl-C or SIGTERM after it was ready. 1: it could not be done, and one line on stderr says
    why; ``--traceback`` shows where. 2: the command line was not understood.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    command = next((each for each in arguments if each != TRACEBACK), "")
    return run_app("pyctrl", _pyctrl, arguments, is_operator=command == "run")


def _pyctrl() -> App:
    from pyctrl.cli._commands import app  # here: imports are what an interrupt may come into

    return app


def run_app(name: str, make: Callable[[], App], arguments: Sequence[str], *, is_operator: bool) -> int:
    """Run a command line of an application, which is made once an interrupt may come; as `main`.

    SIGTERM stops an operator in order, with 0, from here on: while it is still importing as well. Process 1 of a
    container would otherwise ignore it until it has a handler, and be killed after the grace period of the pod.
    """
    # Until a command takes care of it itself, Ctrl-C just ends the process, in the midst of imports too.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    early = _EarlyStop() if is_operator else None
    gc.set_threshold(GARBAGE_THRESHOLD)
    try:
        code = _guarded(name, make, arguments, is_stopped=lambda: early is not None and early.is_asked)
    except SystemExit:
        if early is None or not early.is_asked:
            raise
        code = 0
    finally:
        if early is not None:
            early.close()
    if early is not None and early.is_asked:
        print(f"{name}: stopped by SIGTERM before it ran", file=sys.stderr)
        return 0
    return code


class _EarlyStop:
    """Ends what is under way at a SIGTERM, until an event loop takes the signal over."""

    def __init__(self) -> None:
        self.is_asked: bool = False  # also where something has made another error of the exception
        self._before = signal.signal(signal.SIGTERM, self._stop)

    def close(self) -> None:
        """Put back the handler that was there."""
        signal.signal(signal.SIGTERM, self._before or signal.SIG_DFL)

    def _stop(self, number: int, frame: object) -> None:
        self.is_asked = True
        raise SystemExit(0)  # an event loop lets this one through, and tasks are cancelled


def _guarded(name: str, make: Callable[[], App], arguments: Sequence[str], *, is_stopped: Callable[[], bool]) -> int:
    tokens = [token for token in arguments if token != TRACEBACK]
    try:
        code = _run(name, make, tokens)
        sys.stdout.flush()
    except BrokenPipeError:
        from pyctrl.cli._command_line import FAILED  # here and below: see _pyctrl

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would complain when it exits
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
    """Say what is wrong with a command line; an option that there is not is no value of what it was taken for."""
    from cyclopts import UnknownCommandError

    told = getattr(error, "exception_message", "")  # of our own checks
    if told.startswith("unknown option"):
        return told
    if isinstance(error, UnknownCommandError) and (error.unused_tokens or [""])[0].startswith("-"):
        return _unknown_option(error)
    return _sentence(error)


def _unknown_option(error: UnknownCommandError) -> str:
    """Say that a group of commands has no such option: cyclopts takes it for a command."""
    import difflib

    option = (error.unused_tokens or [""])[0]
    known = [TRACEBACK, *(error.app.help_flags if error.app else ()), *(error.app.version_flags if error.app else ())]
    near = difflib.get_close_matches(option.partition("=")[0], known, n=1)
    return f"Unknown option: {option}" + (f". Did you mean {near[0]}?" if near else "")


def _sentence(error: Exception) -> str:
    """Give a message in one line, without its full stop."""
    from cyclopts import MissingArgumentError

    if isinstance(error, MissingArgumentError) and error.argument is not None:
        return _what_is_missing(error.argument, error.keyword)
    return " ".join(str(error).split()).removesuffix(".")


def _what_is_missing(argument: Argument, flag: str | None) -> str:
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
        print(f"{name}: {kind}: {_sentence(error)} (this should not happen; {TRACEBACK} shows where)", file=sys.stderr)
    return FAILED


def program(setup: SetupFunction, *, name: str, arguments: Sequence[str] | None = None) -> int:
    """Run an operator with the flags of ``pyctrl run``, and its own; gives the exit code.

        if __name__ == "__main__":
            sys.exit(program(add_podset, name="podset-operator"))

    The flags, messages and exit codes are those of ``pyctrl run``; keyword arguments of the function that have a
    default are flags too.

    Args:
        setup: adds the controllers to the manager that it is given.
        name: of the program, in messages; and of its Lease, unless a flag says otherwise.
        arguments: the command line; that of the process by default.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    return run_app(name, partial(_application, setup, name), arguments, is_operator=True)


def _application(setup: SetupFunction, name: str) -> App:
    import inspect  # here and below: imports are what an interrupt may come into

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

    shared = {
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
