"""Scaffolding: questions on the terminal, and webhooks that flags request."""

from __future__ import annotations

import io
import sys

import pytest

from pyctrl.cli._scaffolding import RequestedWebhooks, ask_missing
from pyctrl.errors import CommandFailed


class Terminal(io.StringIO):
    """A terminal with these lines as input."""

    def isatty(self) -> bool:
        return True


def test_a_question_is_repeated_until_it_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A question repeats until answered; a flag answers it, without a terminal yes; end of input is an error."""
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert ask_missing("Create Resource", None)
    monkeypatch.setattr(sys, "stdin", Terminal("perhaps\nNo\n"))
    assert not ask_missing("Create Resource", False)
    assert capsys.readouterr().err == ""
    assert not ask_missing("Create Resource", None)
    assert capsys.readouterr().err == "Create Resource [y/n]\n" * 2
    with pytest.raises(CommandFailed, match="no answer; nothing changed"):
        ask_missing("Create Controller", None)


def test_flags_select_webhooks_and_versions() -> None:
    """`--spoke` implies a conversion webhook, and accepts several versions."""
    admission, everything = RequestedWebhooks(default=True), RequestedWebhooks(validate=True, convert=True)
    assert (admission.names, admission.versions) == (["default"], None)
    assert (everything.names, everything.versions) == (["validate", "convert"], [])
    assert RequestedWebhooks(spokes=("v1, v2", "v3")).versions == ["v1", "v2", "v3"]
