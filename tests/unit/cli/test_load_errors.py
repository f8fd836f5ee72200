"""A program that cannot be loaded: every command prints one error with file, line and an excerpt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.program._broken import CASES, HEAD, WHOLE, check, with_field

pytestmark = pytest.mark.usefixtures("imports_as_before")


#: The same, for errors in the classes of CRDs.
DEFINITIONS = {
    "complex": (with_field("z: complex = 1j"), "FooSpec.z: complex has no schema", "    z: complex = 1j"),
    "a rule": (
        HEAD.replace('version="v1"', 'version="v1", marks=(ValidationRule("self.spec.size >"),)') + WHOLE,
        "fix the ValidationRule",
        "class Foo(CustomResource[FooSpec, FooStatus], group",
    ),
    "no spec": (
        HEAD.replace("[FooSpec, FooStatus]", "") + WHOLE,
        "write class Foo(CustomResource[FooSpec, FooStatus], group=…, version=…)",
        "class Foo(CustomResource, group",
    ),
    "a spec that is no model": (
        HEAD.replace("class FooSpec(Model)", "class FooSpec") + WHOLE,
        "Foo: FooSpec has no schema; write class FooSpec(Model), if the class is yours",
        "class Foo(CustomResource[FooSpec, FooStatus], group",
    ),
    "a name in an annotation": (
        "from __future__ import annotations\n" + with_field("other: Undefined"),
        "FooSpec.other: pydantic cannot build the model: name 'Undefined' is not defined",
        "    other: Undefined",
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["file", "package"])
def test_what_is_wrong_with_a_program_is_shown_where_it_is(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, kind: str
) -> None:
    """The error has file and line and an excerpt, in the given file or in any module."""
    text, said, shown = CASES[case]
    monkeypatch.chdir(tmp_path)
    if kind == "file":
        (tmp_path / "operator.py").write_text(text)
        check(run("rbac", "generate", "operator.py").err, said, shown, "operator.py")
        return
    (tmp_path / "stall" / "controllers").mkdir(parents=True)
    for name in ("__init__", "controllers/__init__"):
        (tmp_path / "stall" / f"{name}.py").write_text("")
    (tmp_path / "stall" / "controllers" / "foo.py").write_text(text)
    main = "from pyctrl.program import setup_package\nimport stall\n\n\ndef add_stall(manager):\n"
    (tmp_path / "stall" / "__main__.py").write_text(f"{main}    setup_package(manager, stall)\n")
    check(run("rbac", "generate", "stall").err, said, shown, "stall/controllers/foo.py")


@pytest.mark.parametrize("case", DEFINITIONS)
def test_what_no_definition_can_be_made_of_is_shown_where_it_is(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """A field whose type has no schema is shown with its line."""
    text, said, shown = DEFINITIONS[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "operator.py").write_text(text)
    check(run("manifests", "operator.py", "crd", "-o", "yaml").err, said, shown, "operator.py")


@pytest.mark.parametrize(
    "command",
    [
        ("run", "{}", "--kubeconfig", "none"),
        ("dev", "{}"),
        ("manifests", "{}"),
        ("deploy", "{}"),
        ("undeploy", "{}"),
        ("helm", "{}"),
        ("bundle", "{}", "--version", "0.1.0"),
        ("build-installer", "{}"),
        ("rbac", "generate", "{}"),
        ("rbac", "check", "{}"),
        ("rbac", "compare", "{}", "asked.json"),
        ("rbac", "doctor", "default:foo", "{}", "-f", "foo.yaml"),
        ("crd", "diff", "{}", "{}"),
        ("explain", "foo", "--types", "{}"),
        ("validate", "foo.yaml", "--types", "{}"),
    ],
    ids=lambda command: " ".join(each for each in command if each.isalpha()),
)
def test_every_command_that_loads_a_program_says_it_alike(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """Every command that loads a program prints the same error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "operator.py").write_text(CASES["a name"][0])
    (tmp_path / "foo.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    (tmp_path / "asked.json").write_text('{"accesses": []}')
    ran = run(*(each.format("operator.py") for each in command))
    assert ran.code == 1
    check(ran.err, *CASES["a name"][1:], "operator.py")


def test_modules_that_import_each_other_are_told_apart(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error for a circular import has the line that closes the cycle, and what to do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "circle_a.py").write_text("from circle_b import y\nx = 1\n")
    (tmp_path / "circle_b.py").write_text("from circle_a import x\ny = 1\n")
    err = run("rbac", "generate", "circle_a").err
    check(
        err,
        "two modules import each other: move the names that both need to a third one",
        "from circle_a import x",
        "circle_b.py",
    )


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig"])
def test_only_utf_8_is_source_text(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    """A file in another encoding is refused with its line; a byte order mark is accepted."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "operator.py").write_bytes(f'{HEAD}x = "café"\n{WHOLE}'.encode(encoding))
    ran = run("rbac", "generate", "operator.py")
    if encoding == "utf-8-sig":
        assert (ran.code, ran.err) == (0, "")
    else:
        check(ran.err, "save the file as UTF-8", 'x = "caf', "operator.py")
