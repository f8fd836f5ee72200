"""Programs that cannot be loaded, and a check of their error messages."""

from __future__ import annotations

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


#: Case; program; expected message; shown line.
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
