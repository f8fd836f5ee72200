"""`pyctrl delete api`: removes the generated files and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run, run
from tests.unit.scaffold._generated import COMMANDS, files_of, words

__all__ = ["run"]

FLEET = ("delete", "api", "--version", "v1", "--kind", "Fleet")
PODSET = ("delete", "api", "--group", "apps", "--version", "v1alpha1", "--kind", "PodSet")


@pytest.fixture
def shop(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project with two kinds."""
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS["package"]:
        run(*command)
    return tmp_path


def test_it_shows_what_would_go(run: Run, shop: Path) -> None:
    """Without confirmation the command removes nothing and prints the command that does."""
    before = files_of(shop)
    told = run(*FLEET)
    assert told.out.splitlines() == [
        "would remove shop/api/v1/fleet.py",
        "would remove shop/controllers/fleet.py",
        "would remove tests/test_fleet.py",
        "would remove shop/webhooks/fleet_conversion.py",
        "would remove tests/test_fleet_conversion.py",
    ]
    assert told.err.endswith("$ pyctrl delete api --version v1 --kind Fleet --yes\n")
    assert (told.code, files_of(shop)) == (0, before)


def test_a_kind_goes_and_the_other_stays(run: Run, shop: Path) -> None:
    """Deleting a kind keeps the packages of its files and the other kind, and reads plural and scope from the class."""
    before = files_of(shop)
    assert run(*FLEET, "--yes").code == 0
    assert sorted(set(before) - set(files_of(shop))) == [
        "shop/api/v1/fleet.py",
        "shop/controllers/fleet.py",
        "shop/webhooks/fleet_conversion.py",
        "tests/test_fleet.py",
        "tests/test_fleet_conversion.py",
    ]
    told = run(*FLEET, "--yes")
    assert (told.code, told.err) == (1, "pyctrl: there is no Fleet of version v1 in shop\n")


def test_what_was_edited_stays(run: Run, shop: Path) -> None:
    """One edited file keeps all files, unless --force is set."""
    file = shop / "shop" / "controllers" / "podset.py"
    file.write_text(file.read_text() + "# mine\n")
    before = files_of(shop)
    told = run(*PODSET, "--yes")
    assert (told.code, "shop/controllers/podset.py was edited" in told.err) == (1, True)
    assert files_of(shop) == before
    assert run(*PODSET, "--yes", "--force").code == 0
    assert not file.exists()


def test_what_is_imported_elsewhere_stays(run: Run, shop: Path) -> None:
    """A user's file that imports the kind is named and prevents the deletion, in every form of import."""
    (shop / "shop" / "own.py").write_text("from .api.v1 import fleet\n")
    told = run(*FLEET, "--yes")
    assert (told.code, "shop/own.py imports a file to remove" in told.err) == (1, True)
    assert (shop / "shop" / "api" / "v1" / "fleet.py").exists()


def test_the_controller_goes_with_its_version(run: Run, shop: Path) -> None:
    """Deleting another version removes only its types."""
    run("create", "api", "--group", "apps", "--version", "v2", "--kind", "PodSet", "--no-controller")
    assert run(*PODSET[:5], "v2", *PODSET[6:], "--yes").out == "removed shop/api/v2/podset.py\n"
    assert (shop / "shop" / "controllers" / "podset.py").exists()


def test_another_group_is_another_kind(run: Run, shop: Path) -> None:
    """Deleting a PodSet of batch keeps the PodSet of apps."""
    told = run("delete", "api", "--group", "batch", "--version", "v1alpha1", "--kind", "PodSet", "--yes")
    assert (told.code, "is in the group apps.generated.pyctrl.test, not in batch." in told.err) == (1, True)


def test_a_single_file_goes_with_its_test(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deleting the kind of a single file deletes the file and its tests."""
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS["single-file"]:
        run(*command)
    told = run("delete", "api", "--version", "v1", "--kind", "Greeting", "--yes")
    assert told.out.splitlines() == [
        "removed greeter.py",
        "removed tests/test_greeter.py",
        "removed tests/test_simulation.py",
        "removed tests/test_greeting_defaults.py",
        "removed tests/test_greeting_validation.py",
    ]


def test_webhooks_go_by_themselves(run: Run, shop: Path) -> None:
    """Webhooks are deleted by name or for a whole version, after a preview."""
    before = set(files_of(shop))
    webhook = ("delete", "webhook", *PODSET[2:])
    told = run(*webhook, "--default")
    assert told.out == "would remove shop/webhooks/podset_defaults.py\nwould remove tests/test_podset_defaults.py\n"
    assert told.err.endswith(f"$ pyctrl {' '.join(webhook)} --default --yes\n")
    assert run(*webhook, "--default", "--yes").code == 0
    assert run(*webhook, "--yes").code == 0
    assert sorted(before - set(files_of(shop))) == [
        "shop/webhooks/podset_defaults.py",
        "shop/webhooks/podset_validation.py",
        "tests/test_podset_defaults.py",
        "tests/test_podset_validation.py",
    ]
    told = run(*webhook, "--validate")
    assert (told.code, told.err) == (1, "pyctrl: shop has no webhook of PodSet, version v1alpha1, to validate\n")


def test_webhooks_go_with_their_kind(run: Run, shop: Path) -> None:
    """Deleting a kind's version deletes its defaulting and validating webhooks."""
    told = run(*PODSET, "--yes")
    assert [line.removeprefix("removed ") for line in told.out.splitlines()] == [
        "shop/api/v1alpha1/podset.py",
        "shop/controllers/podset.py",
        "tests/test_podset.py",
        "shop/webhooks/podset_defaults.py",
        "tests/test_podset_defaults.py",
        "shop/webhooks/podset_validation.py",
        "tests/test_podset_validation.py",
    ]


def test_a_conversion_of_three_needs_each_of_them(run: Run, shop: Path) -> None:
    """Deleting one of three versions is rejected while a conversion imports it."""
    run(
        *[
            "create",
            "api",
            "--version",
            "v3",
            "--kind",
            "Fleet",
            "--no-namespaced",
            "--plural",
            "armada",
            "--no-controller",
        ]
    )
    assert run(*words("create webhook --version v2 --kind Fleet --convert")).code == 0
    told = run(*words("delete api --version v3 --kind Fleet --yes"))
    assert (told.code, "shop/webhooks/fleet_conversion.py, tests/test_fleet_conversion.py import" in told.err) == (
        1,
        True,
    )


def test_webhooks_of_a_single_file_are_taken_out_by_hand(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a single file nothing is cut out; the command names the classes to delete manually."""
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS["single-file"]:
        run(*command)
    told = run(*words("delete webhook --version v1 --kind Greeting --yes"))
    assert told.code == 1
    assert "remove GreetingDefaults and GreetingValidation from greeter.py" in told.err
