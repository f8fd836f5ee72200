"""The documentation site: navigation and generated pages. `make site` builds it; these tests do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests._documents import ROOT
from tools.public_names import public_packages
from tools.site_pages import cli_page, for_a_site, generated_pages, package_page


def pages_of(entries: object) -> Iterator[str]:
    """Yield the pages of a nav, at all levels."""
    if isinstance(entries, str):
        yield entries
    else:
        for entry in entries.values() if isinstance(entries, dict) else entries:  # type: ignore[attr-defined]
            yield from pages_of(entry)


def test_each_page_is_in_the_navigation_once_and_each_entry_is_a_page() -> None:
    """Every page of docs/ and every package is in the navigation, and every entry has a page."""
    nav = list(pages_of(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    written = [str(file.relative_to(ROOT / "docs")) for file in ROOT.glob("docs/**/*.md")]

    assert sorted(nav) == sorted([*written, *generated_pages()])


@pytest.mark.parametrize("package", [package for package in public_packages() if package != "pyctrl"])
def test_the_reference_of_a_package_has_its_public_names_and_no_others(package: str) -> None:
    """The reference page of a package lists its `__all__`."""
    names = [line.strip()[2:].strip('"') for line in package_page(package).splitlines() if line.startswith("      - ")]
    listed = (ROOT / "tests" / "public_names.txt").read_text().splitlines()

    assert sorted(f"{package}.{name}" for name in names) == [
        line for line in listed if line.rpartition(".")[0] == package
    ]


def test_the_reference_of_the_command_line_tells_every_command_with_examples() -> None:
    """The command-line reference has every command and subcommand, with flags, exit codes and examples."""
    page = cli_page()

    assert "\npyctrl crd import SOURCE... [flags]\n" in page
    assert "* `SOURCE`: Files or directories" in page

    assert "## pyctrl dev\n" in page
    assert "### pyctrl rbac doctor\n" in page
    assert "* `--write-kubeconfig FILE`: Where to write the kubeconfig of an administrator." in page
    assert "pyctrl apiserver --write-kubeconfig dev.kubeconfig" in page
    assert "- `1`: failed, or a check found something" in page


def test_a_page_for_the_site_has_no_code_for_tests_and_no_link_out_of_it() -> None:
    """Site pages omit test-only code, and show the path instead of a link to a file outside the site."""
    page = "a [text](../examples/evc/evc.py), [examples/evc](../examples/evc), [rights](../rbac.md#roles)\n"
    hidden = "<!-- invisible-code-block: python\nassert True\n\nassert 1\n-->\n<!-- skip: next -->\nshown\n"

    assert for_a_site("[examples/evc](../examples/evc)\n", "evc.md") == "`examples/evc`\n"
    assert for_a_site(page.replace("../examples", "../../examples"), "design/rbac.md") == (
        "a text (`examples/evc/evc.py`), `examples/evc`, [rights](../rbac.md#roles)\n"
    )
    assert for_a_site(hidden, "evc.md") == "shown\n"


def test_the_site_is_built_where_git_does_not_look() -> None:
    """`make site` writes to a directory that git ignores, and its pages fetch nothing from elsewhere."""
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())

    assert f"{Path(config['site_dir']).parts[0]}/" in (ROOT / ".gitignore").read_text().splitlines()
    assert config["theme"]["font"] is False
