"""`pyctrl create webhook`: the files that it writes for an existing kind, and its errors."""

from __future__ import annotations

import os
import pty
import re
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run, run
from tests.unit.scaffold._generated import COMMANDS, files_of, words

__all__ = ["run"]

PODSET = words("create webhook --group apps --version v1alpha1 --kind PodSet")
FLEET = words("create webhook --version v2 --kind Fleet")
V3 = words("create api --version v3 --kind Fleet --no-namespaced --plural armada --no-controller")
GREETING = words("create webhook --version v1 --kind Greeting")


def made(name: str, commands: int, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project with the first of its commands."""
    monkeypatch.chdir(folder)
    for command in COMMANDS[name][:commands]:
        assert run(*command).code == 0
    return folder


@pytest.fixture
def shop(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a package with two kinds, one of them in two versions, without webhooks."""
    return made("package", 4, run, tmp_path, monkeypatch)


@pytest.fixture
def greeter(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project in one file without webhooks."""
    return made("single-file", 2, run, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("--defaulting", "--default"), ("--programmatic-validation", "--validate"), ("--conversion", "--convert")],
)
def test_the_flags_of_kubebuilder_do_the_same(theirs: str, ours: str, run: Run, shop: Path) -> None:
    """The flags of kubebuilder are accepted."""
    assert run(*FLEET, theirs).code == 0
    told = run(*FLEET, ours)
    assert (told.code, told.out) == (0, "nothing changed\n")


def test_one_after_another(run: Run, shop: Path) -> None:
    """Creating another webhook keeps earlier ones with their edits."""
    run(*PODSET, "--default")
    edited = shop / "shop" / "webhooks" / "podset_defaults.py"
    edited.write_text(edited.read_text() + "# mine\n")
    told = run(*PODSET, "--validate")
    assert told.out == "wrote shop/webhooks/podset_validation.py\nwrote tests/test_podset_validation.py\n"
    assert told.err.endswith("$ pyctrl dev\n")
    told = run(*PODSET, "--default")
    assert (told.code, "shop/webhooks/podset_defaults.py exists and differs" in told.err) == (1, True)
    assert run(*PODSET, "--default", "--force").out == "wrote shop/webhooks/podset_defaults.py\n"


def test_a_dry_run_writes_nothing(run: Run, shop: Path) -> None:
    """A dry run prints the patch and writes nothing."""
    before = files_of(shop)
    told = run(*FLEET, "--convert", "--dry-run")
    assert "+++ b/shop/webhooks/fleet_conversion.py\n" in told.out
    assert files_of(shop) == before


def test_a_conversion_learns_of_another_version(run: Run, shop: Path) -> None:
    """An unedited conversion is regenerated for another version; for an edited one the command prints what to add."""
    run(*FLEET, "--convert")
    run(*V3)
    assert run(*FLEET, "--convert").code == 0
    file = shop / "shop" / "webhooks" / "fleet_conversion.py"
    text = file.read_text()
    assert "Spoke(v3.Fleet, to_hub=v3_to_v2, from_hub=v2_to_v3)" in text
    run(*(word.replace("v3", "v10") for word in V3))
    file.write_text(text + "# mine\n")
    told = run(*FLEET, "--convert")
    assert (told.code, "Spoke(v10.Fleet, to_hub=v10_to_v2, from_hub=v2_to_v10)" in told.err) == (1, True)
    assert run(*FLEET, "--convert", "--force").code == 0
    assert file.read_text().index("import fleet as v3") < file.read_text().index("import fleet as v10")


def test_some_versions_only(run: Run, shop: Path) -> None:
    """With --spoke only the named versions are converted, and an unknown version is rejected."""
    run(*V3)
    assert run(*FLEET, "--spoke", "v1").code == 0
    assert "v3" not in (shop / "shop" / "webhooks" / "fleet_conversion.py").read_text()
    assert "--spoke v4: shop has no such version of Fleet; the others are v1, v3" in run(*FLEET, "--spoke", "v4").err


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ([*PODSET, "--convert"], "v1alpha1 is the only version of PodSet, so there is nothing to convert"),
        (FLEET, "select the webhooks: --default, --validate, --convert, or several of them"),
        ([*FLEET[:5], "Truck", "--default"], "shop has no Truck"),
        (
            [*FLEET[:3], "v9", *FLEET[4:], "--default"],
            "shop has no Fleet of version v9: create it with",
        ),
        ([*PODSET[:3], "batch", *PODSET[4:], "--default"], "is in the group apps.generated.pyctrl.test, not in"),
    ],
)
def test_webhooks_that_cannot_be(command: list[str], line: str, run: Run, shop: Path) -> None:
    """A webhook that cannot exist fails with one line that names the cause, and writes nothing."""
    before = files_of(shop)
    told = run(*command)
    assert (told.code, len(told.err.splitlines())) == (1, 1)
    assert line in told.err
    assert files_of(shop) == before


def test_a_webhook_serves_all_versions(run: Run, shop: Path) -> None:
    """A webhook for another version is rejected, because the first one serves all versions."""
    run(*FLEET, "--validate")
    told = run(*FLEET[:3], "v1", *FLEET[4:], "--validate")
    assert (told.code, "exists for version v2, and is called for v1 as well" in told.err) == (1, True)


@pytest.mark.parametrize(("answers", "made"), [("n\ny\nn\n", "validation"), ("y\nn\ny\n", "conversion defaults")])
def test_on_a_terminal_it_asks(answers: str, made: str, run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the command offers a conversion only if there is another version."""
    master, slave = pty.openpty()
    os.write(master, answers.encode() * 2)
    with os.fdopen(slave) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        told = run(*FLEET)
        assert "Create Conversion Webhook" not in run(*PODSET).err
    os.close(master)
    assert "Create Validation Webhook [y/n]\nCreate Conversion Webhook [y/n]\n" in told.err
    written = [path.stem for path in (shop / "shop" / "webhooks").glob("fleet*")]
    assert sorted(written) == [f"fleet_{each}" for each in made.split()]


def test_a_single_file_gets_a_class(run: Run, greeter: Path) -> None:
    """In a single file the class goes before the code that runs it and its imports join the others; the rest stays."""
    file = greeter / "greeter.py"
    head, imports, rest = re.split(r"(?m)^(from pyctrl import .*\n)", file.read_text())
    runs = 'if __name__ == "__main__":\n    print(FieldError)\n'
    before = f"{head}{imports}from pyctrl.webhook import FieldError\n{rest}\n\nclass Mine: ...\n\n\n{runs}"
    file.write_text(before)
    assert run(*GREETING, "--validate").code == 0
    after = file.read_text()
    assert "from pyctrl.errors import Rejected\nfrom pyctrl.webhook import AdmissionRequest, FieldError, V" in after
    assert after.index("class Mine") < after.index("class GreetingValidation") < after.index("if __name__")
    left = [line for line in before.splitlines() if line not in after.splitlines()]
    assert left == ["from pyctrl.webhook import FieldError"]
    assert run(*GREETING, "--validate").out == "nothing changed\n"


def test_a_single_file_has_nothing_to_convert(run: Run, greeter: Path) -> None:
    """A conversion in a single file with one version is rejected, and the message shows how to convert two."""
    told = run(*GREETING, "--convert")
    assert (told.code, "CONVERSION = Conversion(Greeting, Spoke(OldGreeting, to_hub=…, from_hub=…))" in told.err) == (
        1,
        True,
    )


def test_a_file_that_wires_itself(run: Run, greeter: Path) -> None:
    """For a file that wires its own parts, the command prints that the webhook must be added manually."""
    file = greeter / "greeter.py"
    file.write_text(file.read_text() + "\n\ndef add_greeter(manager: object) -> None: ...\n")
    told = run(*GREETING, "--default")
    assert told.err.endswith("note: greeter.py is set up by add_greeter only; add the webhooks there\n")
