"""Base of the command line: help pages and usage errors."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import Run


def test_help_has_examples(run: Run) -> None:
    """Help lists commands and flags with descriptions, and examples."""
    top, command = run("--help"), run("apiserver", "--help")
    assert (top.code, command.code, top.err, command.err) == (0, 0, "", "")
    assert "Serve a Kubernetes API server" in top.out
    assert "Examples:" in top.out
    assert "pyctrl apiserver --write-kubeconfig dev.kubeconfig" in command.out
    for flag in ("--port", "--token-auth-file", "--insecure-http", "--apply", "--audit", "--[no-]controllers"):
        assert flag in command.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["apisrver"], "pyctrl: Unknown command"),
        (["apiserver", "--prt", "1"], "pyctrl apiserver: Unknown option: --prt. Did you mean --port?"),
        (["apiserver", "--port", "many"], "pyctrl apiserver: Invalid value for --port"),
        (["apiserver", "--port", "65536"], "pyctrl apiserver: Invalid value"),
        (["apiserver", "--audit-level", "None"], "pyctrl apiserver: Invalid value"),
        (["completion", "tcsh"], "pyctrl completion: Invalid value"),
        (["completion"], "pyctrl completion: SHELL is missing"),
        (["validate"], "pyctrl validate: FILE is missing"),
        (["create", "api", "--kind", "A"], "pyctrl create api: --version VERSION is missing"),
        (["token", "jenkins", "--duration"], "pyctrl token: --duration needs a value, DURATION"),
        (["token", "jenkins", "--duraton", "1h"], "pyctrl token: Unknown option: --duraton. Did you mean --duration?"),
        (["create", "apy"], 'pyctrl create: Unknown command "apy". Did you mean "api"?'),
    ],
)
def test_what_is_not_understood_is_exit_code_2(run: Run, arguments: list[str], line: str) -> None:
    """A usage error is a line with the error and a line that refers to the help page."""
    told = run(*arguments)
    first, second = told.err.splitlines()
    assert (told.code, told.out) == (2, "")
    assert first.startswith(line)
    assert second.startswith("Try '")
