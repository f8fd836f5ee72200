"""Arguments of `pyctrl rbac`: accounts and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.rbac import _seeds as seeds


@pytest.fixture
def role(tmp_path: Path) -> Path:
    """Files with the Role, its binding to a user, the Secret and the Deployment of an example."""
    file = tmp_path / "role.yaml"
    file.write_text(f"{seeds.SECRET}---{seeds.ROLE}---{seeds.FOR_USER}---{seeds.DEPLOYMENT}")
    return file


@pytest.mark.parametrize(
    "name", ["jenkins", "default:jenkins", "default/jenkins", "system:serviceaccount:default:jenkins"]
)
def test_an_account_is_named_as_people_do(run: Run, role: Path, name: str) -> None:
    """An account can be written in any of these forms."""
    assert run("rbac", "doctor", name, "-f", role).out.startswith("ServiceAccount default/jenkins\n")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-f", "nowhere.yaml"), "nowhere.yaml: No such file or directory"),
        (("-f", "."), "no object in ."),
        (
            ("a:b:c", "-f", "."),
            "expected a service account, NAME or NAMESPACE:NAME, such as default:jenkins; got 'a:b:c'",
        ),
    ],
)
def test_what_cannot_be_examined_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], why: str
) -> None:
    """Missing files, directories without objects, and invalid names are one-line errors."""
    monkeypatch.chdir(tmp_path)
    ran = run("rbac", "doctor", *arguments)
    assert (ran.code, ran.out, ran.err) == (1, "", f"pyctrl: {why}\n")
