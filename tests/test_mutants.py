"""The mutation run of tools/mutate.py, and its lists of mutants."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests._documents import ROOT, functions_of
from tools.mutate import Mutant, Outcome, main, mirrored_test, packages, read_mutants, run

MUTANTS = [mutant for package in packages() for mutant in read_mutants(package)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a repository of one module, with a test that notices a wrong sum of 3 and 4."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "sums.py").write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_sums.py").write_text(
        "from sums import add\n\n\ndef test_add() -> None:\n    assert add(3, 4) == 7\n"
    )
    return tmp_path


def mutant(name: str, new: str, old: str = "a + b") -> Mutant:
    """Return a mutant of the project."""
    return Mutant("sums", name, "src/sums.py", old, new, ("tests/test_sums.py",))


def test_no_mutant_is_stale() -> None:
    """The old text of each mutant is in its file exactly once, and the file with the new text is still Python."""
    texts = {f"{each.package}: {each.name}": each.changed(ROOT) for each in MUTANTS}

    assert [name for name, text in texts.items() if text is None] == []
    for name, text in texts.items():
        compile(text or "", name, "exec")


def test_each_mutant_has_a_name_and_tests_that_exist() -> None:
    """The name of a mutant is unique in its package, and each of its tests is a directory, a file or a function."""
    names = [(each.package, each.name) for each in MUTANTS]

    assert len(set(names)) == len(names)
    tests = sorted({test for each in MUTANTS for test in each.tests})
    assert [test for test in tests if not _exists(*test.split("::"))] == []


def _exists(file: str, function: str = "") -> bool:
    return (ROOT / file).exists() and (not function or function in functions_of(file))


def test_the_tests_of_a_mutant_are_those_that_mirror_its_file() -> None:
    """A mutant without tests of its own has the test file that mirrors its source file."""
    assert mirrored_test("cache", "_store.py") == "tests/unit/cache/test_store.py"
    assert mirrored_test("apiserver", "_patch/patcher.py") == "tests/unit/apiserver/patch/test_patcher.py"


@pytest.mark.slow(reason="starts pytest four times")
def test_a_mutant_is_killed_by_a_test_that_fails(project: Path) -> None:
    """A mistake is killed by a test, survives, is stale when its text is gone, or breaks the tests; nothing changes."""
    mutants = [mutant("swapped", "a - b"), mutant("same", "b + a"), mutant("gone", "x", "a * b"), mutant("bad", "a +")]
    seen: list[Outcome] = []

    outcomes = run(mutants, project, report=seen.append)

    assert [outcome.result for outcome in outcomes] == ["killed", "survived", "stale", "broken"]
    assert outcomes[0].detail == "tests/test_sums.py::test_add"
    assert seen == outcomes
    assert "a + b" in (project / "src" / "sums.py").read_text()


@pytest.mark.slow(reason="starts pytest")
def test_tests_that_fail_without_a_mutant_end_the_run(project: Path) -> None:
    """No mutant counts as killed by a test that fails anyway."""
    (project / "src" / "sums.py").write_text("def add(a: int, b: int) -> int:\n    return a + b + 1\n")

    with pytest.raises(SystemExit, match="The tests fail without a mutant"):
        run([mutant("swapped", "a - b")], project)


def test_the_list_names_mutants_and_tests(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`--list` prints each mutant with its tests, and `--only` selects by a part of the name."""
    first = MUTANTS[0]
    monkeypatch.setattr("sys.argv", ["mutate.py", first.package, "--list", "--only", first.name])

    assert main() == 0
    assert re.fullmatch(rf"{first.package} +{re.escape(first.name)}\n +\S+.*\n", capsys.readouterr().out)


def test_an_unknown_package_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A package without a list is an error that names those with one."""
    monkeypatch.setattr("sys.argv", ["mutate.py", "kinds"])

    with pytest.raises(SystemExit, match="2"):
        main()
    assert "there is no list for kinds; there are lists for" in capsys.readouterr().err
