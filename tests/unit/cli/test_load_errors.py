"""A program that cannot be loaded: one error with file, line and an excerpt, from every command that loads one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

pytestmark = pytest.mark.usefixtures("imports_as_before")


HEAD = """\
from pydantic import Field
from pyctrl import Builder, CustomResource, Manager, Model, Reconciler, Request, ValidationRule
from pyctrl.kinds.core.v1 import Pod



class FooSpec(Model):
    size: int = 1


class FooStatus(Model):
    seen: int = 0


class Foo(CustomResource[FooSpec, FooStatus], group="x.example.com", version="v1"):
    pass


"""
METHOD = "    async def reconcile(self, request: Request) -> None: ...\n"
WIRING = "def add_foo(manager: Manager) -> None:\n"
WHOLE = f"class R(Reconciler[Foo]):\n{METHOD}"


def with_field(field: str, imported: str = "") -> str:
    """Return a program whose spec has one more field."""
    return imported + HEAD.replace("    size: int = 1\n", f"    size: int = 1\n    {field}\n") + WHOLE


#: What is wrong; the program; what is said; the line that is shown.
CASES = {
    "a name": (f"{HEAD}x = undefined_name\n", "NameError: name 'undefined_name' is not defined", "x = undefined_name"),
    "syntax": (f"{HEAD}def f(:\n    pass\n", "SyntaxError: invalid syntax", "def f(:"),
    "tabs": (f"{HEAD}def f():\n    x = 1\n\ty = 2\n", "indent with spaces only", "    y = 2"),
    "a dependency": (f"import httpxx\n{HEAD}", "No module named 'httpxx'; install its package", "import httpxx"),
    "the end": (f"import sys\nsys.exit(3)\n{HEAD}", 'below: if __name__ == "__main__":', "sys.exit(3)"),
    "no source text": (f"{HEAD}x = 1\0", "null bytes; save the file as UTF-8 text", "x = 1\N{REPLACEMENT CHARACTER}"),
    "a pattern": (
        with_field('name: str = Field(pattern="^(a")'),
        "field name: '^(a' is not a regular expression: unclosed group",
        '    name: str = Field(pattern="^(a")',
    ),
    "look-around": (
        with_field('name: str = Field(default="", pattern="(?<=a)b")'),
        "'(?<=a)b' is not a regular expression: look-around",
        '    name: str = Field(default="", pattern="(?<=a)b")',
    ),
    "a class as type": (
        with_field("thing: Thing", "class Thing: ...\n\n\n"),
        "Thing cannot be the type of a field",
        "    thing: Thing",
    ),
    "no kind": (
        f"{HEAD}class R(Reconciler):\n{METHOD}",
        "R does not name the kind that it reconciles",
        "class R(Reconciler):",
    ),
    "no method": (f"{HEAD}class R(Reconciler[Foo]): ...\n", "R has no method reconcile", "class R(Reconciler[Foo])"),
    "a misspelt method": (
        f"{HEAD}class R(Reconciler[Foo]):\n{METHOD.replace('reconcile', 'reconcil')}",
        "so it cannot run; rename reconcil if that is it",
        "    async def reconcil(self",
    ),
    "one without a function": (
        f"{HEAD}{WHOLE}\n\nclass S(Reconciler[Foo]):\n{METHOD}\n\n{WIRING}    manager.add(R().reconcile)\n",
        "no function of the program adds S",
        "class S(Reconciler[Foo]):",
    ),
    "a method that is not async": (
        f"{HEAD}class R(Reconciler[Foo]):\n{METHOD.replace('async ', '')}",
        "reconcile of R must be async def reconcile(self, request: Request); got a function that is not async",
        "    def reconcile(self, request: Request)",
    ),
    "a method without a request": (
        f"{HEAD}class R(Reconciler[Foo]):\n    async def reconcile(self) -> None: ...\n",
        "reconcile of R must be async def reconcile(self, request: Request); got one that takes others",
        "    async def reconcile(self) -> None: ...",
    ),
    "owns": (
        f"{HEAD}class R(Reconciler[Foo]):\n    owns = Pod\n{METHOD}",
        "owns of R must be a tuple of kinds, such as owns = (Pod,), with its comma; got Pod",
        "    owns = Pod",
    ),
    "watches": (
        f"{HEAD}class R(Reconciler[Foo]):\n    watches = (Pod,)\n{METHOD}",
        "such as watches = ((Pod, mapped(function)),), with commas; got (Pod,)",
        "    watches = (Pod,)",
    ),
    "rbac": (f"{HEAD}class R(Reconciler[Foo]):\n    rbac = 5\n{METHOD}", "rbac of R must be a tuple", "    rbac = 5"),
    "arguments": (
        f"{HEAD}class R(Reconciler[Foo]):\n    def __init__(self, image: str) -> None: ...\n\n{METHOD}",
        "R cannot be created without arguments (missing a required argument: 'image')",
        "    def __init__(self, image: str) -> None: ...",
    ),
    "an __init__ that fails": (
        f"{HEAD}class R(Reconciler[Foo]):\n    def __init__(self) -> None:\n        self.x = {{}}['k']\n\n{METHOD}",
        "creating R failed: KeyError: 'k'",
        "        self.x = {}['k']",
    ),
    "two of one kind": (
        f"{HEAD}{WHOLE}\n\nclass S(Reconciler[Foo]):\n{METHOD}",
        "would have the name of another one, 'foo'",
        "class S(Reconciler[Foo]):",
    ),
    "a function that fails": (
        f"{HEAD}{WHOLE}\n\n{WIRING}    R()\n    x = {{}}['k']\n",
        "failed: KeyError: 'k'",
        "    x = {}['k']",
    ),
    "an error of pyctrl": (
        f"{HEAD}{WHOLE}\n\n{WIRING}    Builder(manager).reconciles(FooSpec).build(R())\n",
        "reconciles() takes a kind",
        "    Builder(manager).reconciles(FooSpec).build(R())",
    ),
}

#: The same, of what only definitions are made of.
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
    "a name in an annotation": (
        "from __future__ import annotations\n" + with_field("other: Undefined"),
        "FooSpec.other: pydantic cannot build the model: name 'Undefined' is not defined",
        "    other: Undefined",
    ),
}


def check(text: str, said: str, shown: str, file: str) -> None:
    """Check that an error has a message, and one line of a file with a marker below it."""
    assert text.startswith("pyctrl: "), text
    assert said in text, text
    line = next(number for number, each in enumerate(text.splitlines()) if f" | {shown}" in each)
    below = text.splitlines()[line + 1]
    assert set(below.partition("|")[2]) == {" ", "^"}, text
    assert f"{file}:{text.splitlines()[line].split()[0]}" in text, text
    assert "Traceback" not in text
    assert "should not happen" not in text


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["file", "package"])
def test_what_is_wrong_with_a_program_is_shown_where_it_is(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, kind: str
) -> None:
    """The message names file and line and shows the source, whether it is the file that was named or any module."""
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
    """A type that no schema can be made of is shown, with its line."""
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
    """Whichever command it was, the error is the same."""
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
    """A circular import shows the line that closes the circle, and what to do."""
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
    """A file in another encoding is refused with its line; a byte order mark does no harm."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "operator.py").write_bytes(f'{HEAD}x = "café"\n{WHOLE}'.encode(encoding))
    ran = run("rbac", "generate", "operator.py")
    if encoding == "utf-8-sig":
        assert (ran.code, ran.err) == (0, "")
    else:
        check(ran.err, "save the file as UTF-8", 'x = "caf', "operator.py")


def test_a_class_that_is_named_as_program_has_to_be_complete(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a kind it was taken for something with rights, and a run of it did nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "operator.py").write_text(CASES["no kind"][0])
    check(run("rbac", "generate", "operator.py:R").err, *CASES["no kind"][1:], "operator.py")


def test_a_module_may_wire_the_reconcilers_of_another(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One without a kind is no mistake if a function of the package names it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stall").mkdir()
    wiring = (
        "from pyctrl import Builder\nfrom stall.foo import Foo, R\n\n\n"
        "def add_foo(manager):\n    Builder(manager).reconciles(Foo).build(R())\n"
    )
    main = "from pyctrl.program import setup_package\nimport stall\n\n\ndef add_stall(manager):\n"
    for name, text in {
        "__init__": "",
        "__main__": f"{main}    setup_package(manager, stall)\n",
        "foo": CASES["no kind"][0],
        "wiring": wiring,
    }.items():
        (tmp_path / "stall" / f"{name}.py").write_text(text)
    assert run("rbac", "generate", "stall").err == ""


def test_a_reconciler_may_be_a_base_or_be_wired_under_a_condition(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bases without a kind or a method are no mistake, nor is a class that a function names and does not always add."""
    monkeypatch.chdir(tmp_path)
    bases = f"{HEAD}class Base(Reconciler):\n{METHOD}\n\nclass R(Base, Reconciler[Foo]): ...\n\n\n"
    (tmp_path / "operator.py").write_text(bases)
    assert run("rbac", "generate", "operator.py").err == ""
    wiring = (
        "def add_foo(manager: Manager, *, second: bool = False) -> None:\n"
        "    Builder(manager).build(R())\n    if second:\n        Builder(manager).options(name='s').build(S())\n"
    )
    (tmp_path / "other.py").write_text(f"{bases}class S(Reconciler[Foo]):\n{METHOD}\n\n{wiring}")
    assert run("rbac", "generate", "other.py").err == ""
