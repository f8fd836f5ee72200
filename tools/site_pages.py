"""What `make site` does beyond mkdocs: pages made from the code, and pages of GitHub made fit for a site.

mkdocs calls the functions whose names begin with ``on_``, see `hooks` in mkdocs.yml. The pages of docs/ are written for
GitHub, which shows them as they are; so here is what a site reads differently.
"""

from __future__ import annotations

import importlib
import posixpath
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # mkdocs imports this file, and knows nothing of the repository

from tools.public_names import doors  # noqa: E402  # only now it is found

__all__ = ["cli_page", "for_a_site", "generated_pages", "on_config", "on_files", "on_page_markdown", "room_page"]


def on_config(config: Any) -> Any:
    """Read Markdown as GitHub does: its anchors, and lists in lists that are indented by two."""
    from markdown import Extension  # here, as below: the tests of this file run where the site is not built
    from pymdownx.slugs import slugify

    def indent_by_two(_: Any, markdown: Any) -> None:
        markdown.tab_length = 2
        markdown.build_parser()  # which has asked for it already

    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    indentation = type("Indentation", (Extension,), {"extendMarkdown": indent_by_two})
    config.markdown_extensions.insert(0, indentation())  # the others add to the parser that it makes
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made from the code."""
    from mkdocs.structure.files import File

    for path, page in generated_pages().items():
        files.append(File.generated(config, path, content=page()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Hand mkdocs a page as a site needs it."""
    return for_a_site(markdown, page.file.src_uri)


def generated_pages() -> dict[str, Callable[[], str]]:
    """Return what makes a page from the code, for each of their paths below docs/."""
    rooms = {f"reference/{_page_of(door)}.md": partial(room_page, door) for door in doors()}
    return {"reference/cli.md": cli_page, **rooms}


def _page_of(door: str) -> str:
    name = door.rpartition(".")[2]
    return "cli-package" if name == "cli" else name  # cli.md is for those who use it


def room_page(door: str) -> str:
    """Ask mkdocstrings for the public names of a room, and for no others."""
    names: list[str] = importlib.import_module(door).__all__
    if door == "pyctrl":  # it only hands on what rooms have
        return f"# {door}\n\n{_names_of_the_package(names)}"
    members = "".join(f"      - {name}\n" for name in names)
    return f"# {door}\n\n::: {door}\n    options:\n      members:\n{members}"


def _names_of_the_package(names: list[str]) -> str:
    """Tell where each name of `pyctrl` is described."""
    rooms = {door: set(importlib.import_module(door).__all__) for door in doors() if door != "pyctrl"}
    lines = ["The names that most programs need can be had from `pyctrl` itself:\n"]
    for name in sorted(names):
        home = next((door for door, public in rooms.items() if name in public), None)
        lines.append(f"- [`{name}`]({_page_of(home)}.md#{home}.{name})" if home else f"- `{name}`")
    return "\n".join(lines) + "\n"


def cli_page() -> str:
    """Write down every command with its flags, as the command line itself tells them."""
    from pyctrl.cli._commands import (
        app,  # the page is about the whole tree of commands, which is nobody else's business
    )

    text = app.generate_docs(output_format="markdown")
    text = re.sub(r"## Table of Contents\n.*?(?=^\*\*Start)", "", text, flags=re.DOTALL | re.MULTILINE)
    sections = re.split(r"^(?=#+ pyctrl)", text, flags=re.MULTILINE)
    told = "".join(_as_in_its_help(section, app) for section in sections if section)
    return told.replace("# pyctrl\n", f"# Commands\n\n{ABOUT_COMMANDS}\n", 1)


ABOUT_COMMANDS = (
    "What all of them have in common, exit codes and `-o json` among it, is on [a page of its own](../cli.md).\n"
)


def _as_in_its_help(section: str, app: Any) -> str:
    """Call a command and its arguments as its help page does, and add what stands there below the flags."""
    from pyctrl.cli._help import usage_of

    command, title = app, section.partition("\n")[0].lstrip("# ")
    for name in title.split()[1:]:
        command = command[name]
    section = re.sub(r"(?<=```console\n).*", lambda _: usage_of(title, command), section, count=1)
    for argument in command.assemble_argument_collection() if command.default_command else ():
        if argument.index is not None and argument.parameter.metavar:
            label = argument.name.upper().replace("_", "-")
            for shown in (label, label.replace("-", "_")):
                section = section.replace(f"* `{shown}`:", f"* `{argument.parameter.metavar}`:", 1)
    epilogue = command.help_epilogue
    return f"{section.rstrip()}\n\n{epilogue.strip() + chr(10) * 2 if epilogue else ''}"


def for_a_site(markdown: str, page: str) -> str:
    """Turn a page as GitHub shows it into one for the site.

    Code for tests that a reader does not see goes; so does a link that leaves docs/, for a site does not know where the
    repository is: it gives the path instead.

    Args:
        markdown: the page.
        page: its path below docs/, such as ``design/cli.md``.
    """
    markdown = re.sub(r"^<!-- (?:invisible-code-block|skip):.*?-->\n", "", markdown, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"\[([^\]]+)\]\((\.\./[^)\s]*)\)", lambda link: _without_leaving(link[1], link[2], page), markdown)


def _without_leaving(text: str, target: str, page: str) -> str:
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    if path.startswith("docs/"):
        return f"[{text}]({target})"
    path = path.partition("#")[0]
    return f"`{path}`" if text.strip("`") in path else f"{text} (`{path}`)"
