"""An application: cyclopts' `App` with our help pages, and flags that show what is worth to be shown."""

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

NEGATABLE = ("no-", "")  # the empty one tells it from cyclopts' default: typing takes equal annotations for the same

FAILED, MISUSED = 1, 2  # exit codes besides 0; 130 after Ctrl-C, as shells expect

MISUSE = "the command line was not understood"


def shown_default(value: Any) -> str | None:
    """Give the default of a flag as help shows it; None where there is nothing to say: none, off, empty."""
    if value is None or value is False or value in ("", ()):
        return None
    if value is True:
        return "true"
    if isinstance(value, timedelta):
        return shown_duration(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


class CommandLine(App):
    """An application or a group of commands, whose help pages have headings and columns and no boxes.

    Only flags that are on by default can be turned off by `--no-…`: give those `negative_bool=NO`.
    """

    def __init__(self, name: str | None = None, **options: Any) -> None:
        flags = Parameter(negative_bool="", negative_iterable="", negative_none="", show_default=shown_default)
        ours = {
            "default_parameter": flags,
            "group_commands": COMMANDS,
            "group_arguments": ARGUMENTS,
            "group_parameters": FLAGS,
            "help_epilogue": "",  # not that of the group of commands
        }
        super().__init__(name=name, **{"help_format": "markdown", **ours, **options})

    def _told(self) -> str:
        """Return the docstring of the command, whatever a list of commands says of it."""
        doc = inspect.getdoc(self.default_command) if inspect.isfunction(self.default_command) else None
        return doc or super().help

    def _tell(self, text: str) -> None:
        self._help = text

    help = property(_told, _tell)

    def help_print(
        self,
        tokens: Annotated[str | Iterable[str] | None, Parameter(show=False)] = None,
        *,
        console: Annotated[Any, Parameter(parse=False)] = None,  # not asked for: cyclopts always gives one of its own
    ) -> None:
        """Print a help page."""
        from pyctrl.cli._help import HelpConsole, Layout, usage_of  # here: it imports rich

        chain, apps, _ = self.parse_commands(tokens)
        if apps[-1].usage is None:
            apps[-1].usage = usage_of(" ".join([self.name[0], *chain]), apps[-1])
        self.help_formatter = Layout()
        super().help_print(tokens, console=HelpConsole())


def epilogue(examples: str, codes: Mapping[int, str] | None = None, notes: str = "") -> str:
    """Return what stands below the flags of a command, in Markdown.

    Args:
        examples: lines of a shell, each use below a comment that says what it is for.
        codes: what each exit code means. That 2 is a command line that was not understood need not be said.
        notes: more to know.
    """
    told = dict(sorted({2: MISUSE, **codes}.items())) if codes else {}
    parts = [
        notes.strip(),
        f"Examples:\n\n```\n{examples.strip()}\n```" if examples else "",
        "Exit codes:\n\n" + "\n".join(f"- `{code}`: {text}" for code, text in told.items()) if told else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"
