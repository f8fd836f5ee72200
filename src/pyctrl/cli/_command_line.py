"""Base of the command line: cyclopts' `App` with pyctrl's help pages and defaults, and exit codes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated, Any

from cyclopts import App, Group, Parameter

from pyctrl.cli._durations import shown_duration

__all__ = [
    "ARGUMENTS",
    "COMMANDS",
    "FAILED",
    "FLAGS",
    "MISUSE",
    "MISUSED",
    "NEGATABLE",
    "CommandLine",
    "epilogue",
    "shown_default",
]

COMMANDS = Group("Commands", sort_key=-2)
ARGUMENTS = Group("Arguments", sort_key=-1)
FLAGS = Group("Flags", sort_key=0)

NEGATABLE = ("no-", "")  # "" makes it differ from cyclopts' default: typing caches equal annotations

FAILED, MISUSED = 1, 2  # exit codes besides 0; 130 after Ctrl-C, as shells expect

MISUSE = "the command line is invalid"


def shown_default(value: Any) -> str | None:
    """Return the default of a flag for its help; None if it is None, false or empty."""
    if value is None or value is False or value in ("", ()):
        return None
    if value is True:
        return "true"
    if isinstance(value, timedelta):
        return shown_duration(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


class CommandLine(App):
    """An application or a group of commands, whose help pages have headings and columns and no boxes.

    Flags have no `--no-…` form by default; those that need one have `negative_bool=NEGATABLE`.
    """

    def __init__(self, name: str | None = None, **options: Any) -> None:
        flags = Parameter(negative_bool="", negative_iterable="", negative_none="", show_default=shown_default)
        ours = {
            "default_parameter": flags,
            "group_commands": COMMANDS,
            "group_arguments": ARGUMENTS,
            "group_parameters": FLAGS,
            "help_epilogue": "",  # not inherited from the group of commands
        }
        super().__init__(name=name, **{"help_format": "markdown", **ours, **options})

    def _get_help(self) -> str:
        """Return the docstring of the command instead of its summary in the list of commands."""
        doc = inspect.getdoc(self.default_command) if inspect.isfunction(self.default_command) else None
        return doc or super().help

    def _set_help(self, text: str) -> None:
        self._help = text

    help = property(_get_help, _set_help)

    def help_print(
        self,
        tokens: Annotated[str | Iterable[str] | None, Parameter(show=False)] = None,
        *,
        console: Annotated[Any, Parameter(parse=False)] = None,  # ignored: cyclopts always passes its own
    ) -> None:
        """Print a help page."""
        from pyctrl.cli._help import HelpConsole, Layout, usage_of  # here: it imports rich

        chain, apps, _ = self.parse_commands(tokens)
        if apps[-1].usage is None:
            apps[-1].usage = usage_of(" ".join([self.name[0], *chain]), apps[-1])
        self.help_formatter = Layout()
        super().help_print(tokens, console=HelpConsole())


def epilogue(examples: str, codes: Mapping[int, str] | None = None, notes: str = "") -> str:
    """Return the text below the flags of a command, in Markdown.

    Args:
        examples: lines of a shell, each example below a comment.
        codes: the meaning of each exit code. 2 is added by default.
        notes: a text above the examples.
    """
    meanings = dict(sorted({2: MISUSE, **codes}.items())) if codes else {}
    parts = [
        notes.strip(),
        f"Examples:\n\n```\n{examples.strip()}\n```" if examples else "",
        "Exit codes:\n\n" + "\n".join(f"- `{code}`: {text}" for code, text in meanings.items()) if meanings else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"
