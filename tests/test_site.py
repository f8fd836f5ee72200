"""The documentation site: navigation and generated pages. `make site` builds it; these tests do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests._documents import ROOT
from tools.check_site import fetches
from tools.public_names import public_packages
from tools.site_pages import boost, complete, for_a_site, without_members
from tools.site_reference import cli_page, navigation, reference_pages


def pages_of(entries: object) -> Iterator[str]:
    """Yield the pages of a nav, at all levels."""
    if isinstance(entries, str):
        yield entries
    else:
        for entry in entries.values() if isinstance(entries, dict) else entries:  # type: ignore[attr-defined]
            yield from pages_of(entry)


def test_each_page_is_in_the_navigation_once_and_each_entry_is_a_page() -> None:
    """Every page of docs/ and every package is in the navigation, and every entry has a page."""
    nav = list(pages_of(complete(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])))
    written = [str(file.relative_to(ROOT / "docs")) for file in ROOT.glob("docs/**/*.md")]

    assert sorted(nav) == sorted([*written, *reference_pages()])


def test_the_packages_are_in_the_place_of_a_pattern() -> None:
    """`reference/*` in mkdocs.yml stands for the pages of all packages."""
    nav = complete([{"Reference": ["cli.md", {"Python packages": ["reference/*"]}]}])

    assert nav == [{"Reference": ["cli.md", {"Python packages": navigation()}]}]


@pytest.mark.parametrize("package", [package for package in public_packages() if package != "pyctrl"])
def test_the_reference_of_a_package_has_its_public_names_and_no_others(package: str) -> None:
    """The pages of a package document its `__all__`, each name once."""
    folder = f"reference/{package.rpartition('.')[2]}/"
    pages = [page() for path, page in reference_pages().items() if path.startswith(folder)]
    names = [line.removeprefix("::: ") for page in pages for line in page.splitlines() if line.startswith("::: ")]
    listed = (ROOT / "tests" / "public_names.txt").read_text().splitlines()

    assert sorted(names) == [package, *(line for line in listed if line.rpartition(".")[0] == package)]


def test_a_class_with_methods_has_a_page_and_small_types_share_one() -> None:
    """`Client` has a page of its own; `Synced`, which has no members, is with the types of its package."""
    pages = reference_pages()

    assert "::: pyctrl.client.Client\n" in pages["reference/client/Client.md"]()
    assert "::: pyctrl.cache.Synced\n" in pages["reference/cache/types.md"]()
    assert "::: pyctrl.errors.Conflict\n" in pages["reference/errors/exceptions.md"]()


def test_the_page_of_a_package_lists_its_names_with_a_link_and_a_sentence() -> None:
    """The list of `pyctrl` links to the package that defines a name."""
    page = reference_pages()["reference/pyctrl/index.md"]()

    assert "- [`Client`][pyctrl.client.Client]: Reads and writes objects of an API server, without any cache.\n" in page


def test_the_search_prefers_guides_to_the_reference() -> None:
    """A hit in a guide counts more than one in a design page, and much more than one in the reference."""
    assert boost("rbac.md") > boost("design/rbac.md") > boost("reference/rbac/index.md")


def test_the_search_finds_classes_and_not_their_members() -> None:
    """Headings of members are left out of the index; those of classes and functions are not."""
    member = '<h2 id="pyctrl.client.Client.get" class="doc">get</h2>'
    others = '<h2 id="pyctrl.client.Client">Client</h2><h2 id="pyctrl.client.deliver">deliver</h2>'

    assert without_members(member) == member.replace("<h2 ", "<h2 data-search-exclude ")
    assert without_members(others) == others


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


def test_a_page_for_the_site_has_no_code_for_tests_and_links_to_the_repository() -> None:
    """Site pages omit test-only code, and link to the repository instead of a file outside the site."""
    page = "a [text](../examples/evc/evc.py), [rights](../rbac.md#roles)\n"
    hidden = "<!-- invisible-code-block: python\nassert True\n\nassert 1\n-->\n<!-- skip: next -->\nshown\n"
    home = "https://example.com/it"

    assert for_a_site("[evc](../examples/evc)\n", "evc.md", home) == f"[evc]({home}/blob/main/examples/evc)\n"
    assert for_a_site(page.replace("../examples", "../../examples"), "design/rbac.md", home) == (
        f"a [text]({home}/blob/main/examples/evc/evc.py), [rights](../rbac.md#roles)\n"
    )
    assert for_a_site(hidden, "evc.md", home) == "shown\n"


def test_the_site_is_built_where_git_does_not_look() -> None:
    """`make site` writes to a directory that git ignores, and its pages fetch nothing from elsewhere."""
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())

    assert f"{Path(config['site_dir']).parts[0]}/" in (ROOT / ".gitignore").read_text().splitlines()
    assert config["theme"]["font"] is False


def test_a_page_that_fetches_from_another_host_is_named(tmp_path: Path) -> None:
    """A script of another host fails the check, because the site is read from the disk as well; a link does not."""
    script = '<script src="https://cdn.example.com/a.js"></script>'
    (tmp_path / "a.html").write_text(script)
    (tmp_path / "b.html").write_text('<a href="https://example.com">a link</a><script src="assets/a.js"></script>')

    assert fetches(tmp_path) == ["a.html: fetches https://cdn.example.com/a.js"]
