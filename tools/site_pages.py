"""Hooks of mkdocs for `make site`: generated reference pages, and changes that GitHub's Markdown needs on a site.

mkdocs calls the functions whose names begin with ``on_``, see `hooks` in mkdocs.yml. The pages of docs/ are written for
GitHub. This module changes what a site renders differently.
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
sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # mkdocs imports this file without the repository on the path

from tools.public_names import public_packages  # noqa: E402  # after the path is set

__all__ = ["cli_page", "for_a_site", "generated_pages", "on_config", "on_files", "on_page_markdown", "package_page"]


def on_config(config: Any) -> Any:
    """Read Markdown as GitHub does: its anchors, and lists in lists that are indented by two."""
    from markdown import Extension  # here and below: tests of this file run without the site's packages
    from pymdownx.slugs import slugify

    def indent_by_two(_: Any, markdown: Any) -> None:
        markdown.tab_length = 2
        markdown.build_parser()  # it has already read the option

    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    indentation = type("Indentation", (Extension,), {"extendMarkdown": indent_by_two})
    config.markdown_extensions.insert(0, indentation())  # first: the others extend the parser that it creates
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are generated from the code."""
    from mkdocs.structure.files import File

    for path, page in generated_pages().items():
        files.append(File.generated(config, path, content=page()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page as the site renders it."""
    return for_a_site(markdown, page.file.src_uri)


def generated_pages() -> dict[str, Callable[[], str]]:
    """Return the functions that generate pages from the code, by path below docs/."""
    packages = {f"reference/{_page_of(name)}.md": partial(package_page, name) for name in public_packages()}
    return {"reference/cli.md": cli_page, **packages}


def _page_of(package: str) -> str:
    name = package.rpartition(".")[2]
    return "cli-package" if name == "cli" else name  # cli.md lists the commands


def package_page(package: str) -> str:
    """Return the reference page of a package: its public names, rendered by mkdocstrings."""
    names: list[str] = importlib.import_module(package).__all__
    if package == "pyctrl":  # it only re-exports
        return f"# {package}\n\n{_re_exports(names)}"
    members = "".join(f'      - "{name}"\n' for name in names)  # quoted: YAML reads NULL as None
    return f"# {package}\n\n::: {package}\n    options:\n      members:\n{members}"


def _re_exports(names: list[str]) -> str:
    """Return a list of the names of `pyctrl`, each with a link to its documentation."""
    packages = {each: set(importlib.import_module(each).__all__) for each in public_packages() if each != "pyctrl"}
    lines = ["`pyctrl` itself exports the names that most programs need:\n"]
    for name in sorted(names):
        home = next((package for package, public in packages.items() if name in public), None)
        lines.append(f"- [`{name}`]({_page_of(home)}.md#{home}.{name})" if home else f"- `{name}`")
    return "\n".join(lines) + "\n"


def cli_page() -> str:
    """Return the reference of every command and its flags, generated from the command line."""
    from pyctrl.cli._commands import app  # private: only this page needs the whole tree of commands
    from pyctrl.cli._flag_names import HIDDEN_NAMES

    text = app.generate_docs(output_format="markdown")
    text = re.sub(rf", (?:{'|'.join(HIDDEN_NAMES)})(?=[ `,])", "", text)
    text = re.sub(r"## Table of Contents\n.*?(?=^\*\*Start)", "", text, flags=re.DOTALL | re.MULTILINE)
    sections = re.split(r"^(?=#+ pyctrl)", text, flags=re.MULTILINE)
    pages = "".join(_as_in_its_help(section, app) for section in sections if section)
    return pages.replace("# pyctrl\n", f"# Commands\n\n{ABOUT_COMMANDS}\n", 1)


ABOUT_COMMANDS = (
    "What all commands have in common, such as exit codes and `-o json`, is on [its own page](../cli.md).\n"
)


def _as_in_its_help(section: str, app: Any) -> str:
    """Return the section of a command with the usage line, argument names and epilogue of its `--help`."""
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
    """Return a page, written for GitHub, for the site.

    Hidden test code is removed. A link that leaves docs/ becomes the path of its target, because the site does not
    contain the repository.

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
