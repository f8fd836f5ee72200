"""Hooks of mkdocs for `make site`: generated pages, and changes that GitHub's Markdown needs on a site.

mkdocs calls the functions whose names begin with ``on_``, see `hooks` in mkdocs.yml. The pages of docs/ are written for
GitHub. This module changes what a site renders differently.
"""

from __future__ import annotations

import posixpath
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # mkdocs imports this file without the repository on the path

from tools.draw_diagrams import BLOCK, DRAWN, name_of  # noqa: E402  # after the path is set
from tools.site_reference import navigation, reference_pages  # noqa: E402  # after the path is set

__all__ = [
    "boost",
    "complete",
    "drawn",
    "for_a_site",
    "on_config",
    "on_files",
    "on_page_content",
    "on_page_markdown",
    "on_post_page",
    "without_members",
]

# How much a hit on a page counts in the search, by the beginning of its path; 1 for all others. Guides come first.
BOOSTS = {
    "recipes/": 2.0,
    "controller-runtime.md": 0.5,  # has most names, and explains few
    "compatibility.md": 0.2,  # has the names of others
    "rbac.md": 1.5,  # before the doctor, and before RBAC of the embedded API server
    "metrics.md": 1.3,  # before every page with ports
    "testing.md": 1.3,
    "reference/commands": 0.2,
    "reference/": 0.02,
    "design/controller-runtime.md": 0.05,  # compares every feature, and explains none
    "design/": 0.2,
    "apiserver": 0.4,
    "cluster.md": 0.4,
    "glossary.md": 0.2,
    "architecture.md": 0.4,
    "benchmarks.md": 0.4,
    "evc.md": 0.4,
    "sampledb.md": 0.4,
    "seeds.md": 0.2,
    "index.md": 0.2,
}


def on_config(config: Any) -> Any:
    """Read Markdown as GitHub does, complete the navigation, and name the version in the footer."""
    from markdown import Extension  # here and below: tests of this file run without the site's packages
    from pymdownx.slugs import slugify

    def indent_by_two(_: Any, markdown: Any) -> None:
        markdown.tab_length = 2
        markdown.build_parser()  # it has already read the option

    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    indentation = type("Indentation", (Extension,), {"extendMarkdown": indent_by_two})
    config.markdown_extensions.insert(0, indentation())  # first: the others extend the parser that it creates
    config.nav = complete(config.nav)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    config.copyright = f"pyctrl {version}, licensed under Apache-2.0"
    return config


def complete(nav: list[Any]) -> list[Any]:
    """Return the navigation with the pages of the packages in the place of `reference/*`."""
    return [each for entry in nav for each in (navigation() if entry == "reference/*" else [_completed(entry)])]


def _completed(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    return {title: complete(below) if isinstance(below, list) else below for title, below in entry.items()}


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are generated from the code."""
    from mkdocs.structure.files import File

    for path, page in reference_pages().items():
        files.append(File.generated(config, path, content=page()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Return a page as the site renders it."""
    path = page.file.src_uri
    page.meta.setdefault("search", {"boost": boost(path)})
    if page.file.generated_by:
        page.edit_url = None
    if path == "index.md":
        page.meta["hide"] = ["navigation", "toc"]
    return for_a_site(markdown, path, config.repo_url)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Return the HTML of a page with its diagrams, and as the search indexes it."""
    html = re.sub(r'<div data-diagram="([\w-]+)"></div>', lambda match: drawn(match[1]), html)
    return without_members(html) if page.file.src_uri.startswith("reference/") else html


def drawn(name: str) -> str:
    """Return a diagram as an element of a page. The keyboard scrolls it where it is wider than the page."""
    svg = (DRAWN / f"{name}.svg").read_text().partition("\n")[2]
    return f'<figure class="diagram" tabindex="0" data-search-exclude>{svg}</figure>'


def without_members(html: str) -> str:
    """Exclude the members of classes from the search: the page of the class is found instead."""
    return re.sub(r'<h([2-6]) (?=id="pyctrl(?:\.[a-z_]+)?\.[A-Z]\w*\.)', r"<h\1 data-search-exclude ", html)


def on_post_page(output: str, **_: Any) -> str:
    """Return a page with the names for screen readers that the theme lacks."""
    output = output.replace('class="md-search" ', 'class="md-search" aria-label="Search" ')
    output = output.replace(
        '<nav class="md-path" aria-label="Navigation"', '<nav class="md-path" aria-label="Breadcrumbs"'
    )
    return re.sub(r"<th([^>]*)></th>", r"<td\1></td>", output)  # a head without text is no head


def boost(path: str) -> float:
    """Return how much a hit on a page counts in the search."""
    return next((value for beginning, value in BOOSTS.items() if path.startswith(beginning)), 1.0)


def for_a_site(markdown: str, page: str, repository: str) -> str:
    """Return a page, written for GitHub, for the site.

    Hidden test code is removed. A link that leaves docs/ leads to the repository, because the site does not contain it.
    A Mermaid diagram is replaced by an element that `on_page_content` fills.

    Args:
        markdown: the page.
        page: its path below docs/, such as ``design/cli.md``.
        repository: the address of the repository.
    """
    markdown = re.sub(r"^<!-- (?:invisible-code-block|skip):.*?-->\n", "", markdown, flags=re.DOTALL | re.MULTILINE)
    markdown = BLOCK.sub(lambda block: f'<div data-diagram="{name_of(block[1])}"></div>', markdown)
    return re.sub(
        r"\[([^\]]+)\]\((\.\./[^)\s]*)\)", lambda link: _without_leaving(link[1], link[2], page, repository), markdown
    )


def _without_leaving(text: str, target: str, page: str, repository: str) -> str:
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    return f"[{text}]({target})" if path.startswith("docs/") else f"[{text}]({repository}/blob/main/{path})"
