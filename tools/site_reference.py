"""The reference of the site: pages generated from the code, one for each class that has members.

A package has a page that lists its public names with their first sentences. A class with methods or several attributes
has a page. Functions, exceptions and the remaining names of a package share a page for each of these groups.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from tools.public_names import public_packages

__all__ = ["PACKAGES", "cli_page", "navigation", "reference_pages"]

PACKAGES = "reference/index.md"
COMMANDS = "reference/commands.md"
# A class with fewer public members, none of them a method, is on the page of the package's small types.
OWN_PAGE = 4
GROUPS = {"functions": "Functions", "exceptions": "Exceptions", "types": "Types and constants"}
# The heading of a package is that of its page.
HIDDEN = "    options:\n      members: false\n      show_root_heading: false\n      show_root_toc_entry: false\n"
ABOUT_COMMANDS = (
    "What all commands have in common, such as exit codes and `-o json`, is on [its own page](../cli.md).\n"
)


def reference_pages() -> dict[str, Callable[[], str]]:
    """Return the functions that generate the reference, by path below docs/."""
    pages: dict[str, Callable[[], str]] = {COMMANDS: cli_page, PACKAGES: _packages_page}
    for package in public_packages():
        pages[_path(package, "index")] = partial(_package_page, package)
        if package != "pyctrl":  # it only re-exports
            for page, names in _pages_of(package).items():
                pages[_path(package, page)] = partial(_members_page, package, page, names)
    return pages


def navigation() -> list[Any]:
    """Return the packages with their pages, as entries of mkdocs' nav."""
    return [PACKAGES, *({package: _entries(package)} for package in public_packages())]


def _entries(package: str) -> list[Any]:
    pages = {} if package == "pyctrl" else _pages_of(package)
    named = [{GROUPS.get(page, page): _path(package, page)} for page in pages]
    return [_path(package, "index"), *named]


def _path(package: str, page: str) -> str:
    return f"reference/{package.rpartition('.')[2]}/{page}.md"


def _pages_of(package: str) -> dict[str, list[str]]:
    """Return the public names of a package by page: classes first, then the groups."""
    module = importlib.import_module(package)
    found: dict[str, list[str]] = {}
    for name in sorted(module.__all__, key=str.lower):
        found.setdefault(_page_of(name, getattr(module, name)), []).append(name)
    return dict(sorted(found.items(), key=lambda item: (item[0] in GROUPS, item[0].lower())))


def _page_of(name: str, value: object) -> str:
    if not inspect.isclass(value):
        return "functions" if inspect.isroutine(value) else "types"
    if issubclass(value, BaseException):
        return "exceptions"
    members = [member for each, member in vars(value).items() if not each.startswith("_")]
    has_methods = any(inspect.isroutine(member) for member in members)
    return name if has_methods or len(members) >= OWN_PAGE else "types"


def _packages_page() -> str:
    lines = [
        f"- [`{package}`]({package.rpartition('.')[2]}/index.md): {_sentence(package)}" for package in public_packages()
    ]
    return "# Python packages\n\n" + "\n".join(lines) + "\n"


def _sentence(package: str) -> str:
    """Return the first sentence of the docstring of a package."""
    return _first_line(importlib.import_module(package))


def _first_line(value: object) -> str:
    paragraph = (inspect.getdoc(value) or "").partition("\n\n")[0]
    return re.sub(r"``(.+?)``", r"`\1`", " ".join(paragraph.split()))


def _package_page(package: str) -> str:
    """Return the page of a package: its docstring, and its public names with their first lines."""
    module = importlib.import_module(package)
    listed = "\n".join(_line(package, name) for name in sorted(module.__all__, key=str.lower))
    about = f"::: {package}\n{HIDDEN}" if package != "pyctrl" else _sentence(package) + "\n"
    return f"---\ntitle: {package}\n---\n\n# {package}\n\n{about}\n## Names\n\n{listed}\n"


def _line(package: str, name: str) -> str:
    home = _home(package, name)
    value = getattr(importlib.import_module(package), name)
    documented = inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value)
    about = f": {_first_line(value)}" if documented and _first_line(value) else ""
    return f"- [`{name}`][{home}.{name}]{about}" if home else f"- `{name}`{about}"


def _home(package: str, name: str) -> str:
    """Return the package whose reference documents a name of `pyctrl`, which only re-exports; else the package."""
    if package != "pyctrl":
        return package
    others = (each for each in public_packages() if each != "pyctrl")
    return next((each for each in others if name in importlib.import_module(each).__all__), "")


def _members_page(package: str, page: str, names: list[str]) -> str:
    """Return the page of one class, or of a group of names, rendered by mkdocstrings."""
    if page not in GROUPS:
        return f"---\ntitle: {page}\n---\n\n{_object(package, page, level=1)}"
    objects = "\n".join(_object(package, name, level=2) for name in names)
    return f"---\ntitle: {GROUPS[page]} of {package}\n---\n\n# {GROUPS[page]} of `{package}`\n\n{objects}"


def _object(package: str, name: str, *, level: int) -> str:
    shortest = "pyctrl" if name in importlib.import_module("pyctrl").__all__ else package
    options = {"heading_level": level, "inherited_members": str(_inherits(package, name)).lower()}
    lines = "".join(f"      {option}: {value}\n" for option, value in options.items())
    return f"::: {package}.{name}\n    options:\n{lines}      extra:\n        module: {shortest}\n"


def _inherits(package: str, name: str) -> bool:
    """Return whether the page of a class shows inherited members. Those of errors and models are the same for all."""
    value = getattr(importlib.import_module(package), name)
    return inspect.isclass(value) and not issubclass(value, BaseException) and not hasattr(value, "model_fields")


def cli_page() -> str:
    """Return the reference of every command and its flags, generated from the command line."""
    from pyctrl.cli._commands import app  # private: only this page needs the whole tree of commands
    from pyctrl.cli._flag_names import HIDDEN_NAMES

    text = app.generate_docs(output_format="markdown")
    text = re.sub(rf", (?:{'|'.join(HIDDEN_NAMES)})(?=[ `,])", "", text)
    text = re.sub(r"## Table of Contents\n.*?(?=^\*\*Start)", "", text, flags=re.DOTALL | re.MULTILINE)
    sections = re.split(r"^(?=#+ pyctrl)", text, flags=re.MULTILINE)
    pages = "".join(_as_in_its_help(section, app) for section in sections if section)
    return pages.replace("# pyctrl\n", f"# Commands and flags\n\n{ABOUT_COMMANDS}\n", 1)


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
