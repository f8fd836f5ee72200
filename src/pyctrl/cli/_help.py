"""Help pages: headings and columns as in gh and cargo, no boxes, lines that can be copied."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from cyclopts.help import InlineText
from rich.console import Console, Group
from rich.markdown import Markdown
from rich.text import Text

from pyctrl.cli._flag_names import HIDDEN_NAMES

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import ConsoleOptions

__all__ = ["HelpConsole", "Layout", "usage_of"]

WIDEST = 100  # columns; longer lines are hard to read
NARROW = 60  # columns; with fewer, descriptions are below names
NARROWEST = 10  # columns; longer names in a narrow console are on a line of their own
LONGEST_NAME = 28  # columns; a longer name is on a line of its own

_FENCED = re.compile(r"^(```\w*\n.*?^```)$", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"^- `([^`]+)`: ", re.MULTILINE)


class HelpConsole(Console):
    """Prints Markdown as help, without padding and without wrapping commands, so that they can be copied."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False)
        self.width = min(self.width, WIDEST)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as `Console.print` does, without cropping lines that cannot be wrapped."""
        super().print(*(self._readable(each) for each in objects), crop=False, **options)

    def _readable(self, printed: Any) -> Any:
        if not isinstance(printed, InlineText) or not isinstance(printed.primary_renderable, Markdown):
            return printed
        lines = list(_laid_out(printed.primary_renderable.markup, self))
        return Group(*lines)


class Layout:
    """Lays out the parts of a help page, as a formatter of cyclopts."""

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        """Print the usage line."""
        words = str(usage).rstrip()
        lines = textwrap.wrap(words, console.width, initial_indent="Usage: ", subsequent_indent=" " * 9)
        for line in lines:
            text = Text(line, overflow="ignore", no_wrap=True)
            text.stylize("bold", 0, len("Usage:") if line.startswith("Usage:") else 0)
            console.print(text)

    def render_description(self, console: Console, options: ConsoleOptions, description: Any) -> None:
        """Print the description."""
        if description:
            console.print()
            console.print(description)

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print a group of commands, arguments or flags below its heading."""
        if not panel.entries:
            return
        console.print()
        console.print(Text(f"{panel.title}:", style="bold"))
        has_shorts = panel.format == "parameter" and any(
            entry.shorts and not entry.positional_label for entry in panel.entries
        )
        rows = [(_name(entry, has_shorts=has_shorts), _description(entry)) for entry in panel.entries]
        for line in _columns(rows, console):
            console.print(line)


def usage_of(name: str, command: App) -> str:
    """Return the usage of a command: the names of its arguments, and whether it has flags."""
    words, has_flags = [name], False
    if command.default_command is None:
        return f"{name} COMMAND"
    for argument in command.assemble_argument_collection(parse_docstring=False).filter_by(show=True):
        if argument.index is None:
            has_flags = has_flags or not argument.required
            words += [f"{argument.name} {argument.parameter.metavar}"] if argument.required else []
        else:
            label = argument.parameter.metavar or argument.name.upper()
            label += "..." if argument.token_count()[1] or argument.field_info.kind.name == "VAR_POSITIONAL" else ""
            words.append(label if argument.required else f"[{label}]")
    return " ".join([*words, "[flags]"] if has_flags else words)


def _name(entry: HelpEntry, *, has_shorts: bool) -> Text:
    """Return the name of a flag as it is typed: ``-o, --output FORMAT``, ``--[no-]kubelet``."""
    if entry.positional_label:
        return Text(entry.metavar or entry.positional_label, style="cyan")
    names = [name for name in entry.positive_names if name not in HIDDEN_NAMES]
    for negative in entry.negative_names:
        positive = negative.replace("--no-", "--", 1)
        names = [name if name != positive else positive.replace("--", "--[no-]", 1) for name in names]
    text = ", ".join([*entry.shorts, *names])
    indent = "    " if has_shorts and not entry.shorts else ""
    return Text.assemble(indent, (text, "cyan"), f" {entry.metavar}" if entry.metavar else "")


def _description(entry: HelpEntry) -> Text:
    described = entry.description
    markdown = getattr(getattr(described, "primary_renderable", None), "markup", "")
    text = _inline(_without_stop(" ".join(markdown.split())))
    for metadata in (
        f"[values: {', '.join(entry.choices)}]" if entry.choices else "",
        f"[default: {entry.default}]" if entry.default is not None else "",
        "[required]" if entry.required and not entry.positional_label else "",
    ):
        text.append(f" {metadata}" if metadata else "", style="dim")
    return text


def _without_stop(sentence: str) -> str:
    """Remove the full stop of a single sentence; keep it after several."""
    return sentence if ". " in sentence else sentence.removesuffix(".")


def _columns(rows: Iterable[tuple[Text, Text]], console: Console) -> Iterator[Text]:
    """Yield the lines of two columns; if the console is narrow and a name is long, each text is below its name."""
    rows = list(rows)
    fitting = [len(name) for name, _ in rows if len(name) <= LONGEST_NAME]
    indent = 2 + max(fitting, default=0) + 2
    is_below = console.width < NARROW and indent > NARROWEST
    for name, text in rows:
        yield from _row(name, text, 8 if is_below else indent, console, is_below=is_below)


def _row(name: Text, text: Text, indent: int, console: Console, *, is_below: bool) -> Iterator[Text]:
    lines = list(text.wrap(console, console.width - indent)) or [Text()]
    for line in lines:
        line.rstrip()
    first = Text.assemble("  ", name)
    if not is_below and len(first) + 2 <= indent:
        first.append(" " * (indent - len(first)))
        first.append_text(lines.pop(0))
    first.rstrip()
    yield first
    yield from (Text.assemble(" " * indent, line) for line in lines if line)


def _laid_out(markdown: str, console: Console) -> Iterator[Text]:
    """Yield the lines of a text: wrapped paragraphs, unchanged commands, items in columns."""
    was_heading = True
    for block in _blocks(markdown):
        if not was_heading:
            yield Text()
        was_heading = len(block) < LONGEST_NAME and block.endswith(":")
        if block.startswith("```"):
            yield from map(_shell, block.splitlines()[1:-1])
        elif _ITEM.match(block):
            yield from _items(block, console)
        else:
            yield from _wrapped(block, console, style="bold" if was_heading else "")


def _blocks(markdown: str) -> Iterator[str]:
    for place, part in enumerate(_FENCED.split(markdown.strip())):
        yield from [part] if place % 2 else filter(None, map(str.strip, re.split(r"\n\n+", part)))


def _items(block: str, console: Console) -> Iterator[Text]:
    _, *found = _ITEM.split(block)
    rows = zip(found[::2], found[1::2], strict=True)
    return _columns(((Text(name, style="cyan"), _inline(" ".join(text.split()))) for name, text in rows), console)


def _wrapped(block: str, console: Console, style: str) -> Iterator[Text]:
    for line in _inline(" ".join(block.split())).wrap(console, console.width):
        line.rstrip()
        line.stylize(style)
        yield line


def _shell(line: str) -> Text:
    """Return a line of a shell, which is never wrapped."""
    style = "dim" if line.lstrip().startswith("#") else ""
    return Text(f"  {line}".rstrip(), style=style, no_wrap=True, overflow="ignore")


def _inline(markdown: str) -> Text:
    """Render inline code without its backticks."""
    text = Text()
    for place, part in enumerate(re.split(r"`([^`]+)`", markdown)):
        text.append(part, style="cyan" if place % 2 else "")
    return text
