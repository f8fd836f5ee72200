"""Flags that several commands share: lists of namespaces, and `-` for stdin."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli._shared_flags import refuse_options, split_namespaces


def test_a_misspelt_option_is_not_a_file() -> None:
    """A word that begins with a hyphen is an option, except `-`."""
    refuse_options(str, None)
    refuse_options(tuple, [Path("a.yaml"), Path("-")])
    with pytest.raises(ValueError, match="unknown option --crds"):
        refuse_options(tuple, [Path("a.yaml"), Path("--crds")])


def test_namespaces_are_repeated_or_listed() -> None:
    """A flag for namespaces may be repeated, and each value may be a list."""
    assert split_namespaces(["web, shop", "ci", ""]) == ("web", "shop", "ci")
