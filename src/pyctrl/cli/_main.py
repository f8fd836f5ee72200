"""The way of a command line: find the command, run it, and turn what goes wrong into one line and an exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence

FAILED, MISUSED = 1, 2  # exit codes, besides 0; an interrupt ends the process as the shell expects: 130

TRACEBACK = "--traceback"

GARBAGE_THRESHOLD = 50_000  # objects; imports make many that stay, and looking at them took 8 % of the start


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; those of the process by default. Gives the exit code.

    0: done, or stopped by Ctrl-C or SIGTERM after it was ready. 1: it could not be done, and one line on stderr says
    why; ``--traceback`` shows where. 2: the command line was not understood.
    """
    # Until a command takes care of it itself, Ctrl-C just ends the process, in the midst of imports too.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(GARBAGE_THRESHOLD)
    given = list(sys.argv[1:] if arguments is None else arguments)
    tokens = [token for token in given if token != TRACEBACK]
    try:
        code = _run(tokens)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would complain when it exits
        return FAILED
    except Exception as error:
        if len(tokens) < len(given):
            raise
        return _explain(error)
    return code


def _run(tokens: list[str]) -> int:
    from cyclopts import CycloptsError  # here and below: imports are what an interrupt may come into

    from ._app import app

    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        command = " ".join(["pyctrl", *(error.command_chain or ())])
        print(f"{command}: {_sentence(error)}\nTry '{command} --help'.", file=sys.stderr)
        return MISUSED
    return code if isinstance(code, int) else 0


def _sentence(error: Exception) -> str:
    """Give a message in one line, without its full stop."""
    return " ".join(str(error).split()).removesuffix(".")


def _explain(error: Exception) -> int:
    from pyctrl.errors import PyctrlError

    if isinstance(error, PyctrlError | OSError):
        print(f"pyctrl: {error}", file=sys.stderr)
    else:
        kind = type(error).__name__
        print(f"pyctrl: {kind}: {_sentence(error)} (this should not happen; {TRACEBACK} shows where)", file=sys.stderr)
    return FAILED
