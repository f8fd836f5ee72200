"""The protocols of a client, and the signatures of their verbs: declared once and equal in every class."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import pyctrl
from pyctrl.cache import CachedClient
from pyctrl.client import Client, Reader, StatusResource, StatusWriter, SubResource, Writer

MAX_OVERLOADS = 25  # in all of pyctrl: verbs that take an object, or a kind and a key, need two each


def _parameters(owner: type, verb: str) -> dict[str, inspect.Parameter]:
    found = inspect.signature(getattr(owner, verb)).parameters
    return {name: each.replace(annotation=each.empty) for name, each in found.items()}


def _overloads(path: Path) -> int:
    functions = [
        n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return sum(ast.unparse(each).endswith("overload") for function in functions for each in function.decorator_list)


def test_overloads_are_few() -> None:
    """`Kind` and TypeVar defaults give the types of most signatures without overloads."""
    sources = Path(pyctrl.__file__).parent.rglob("*.py")
    assert sum(map(_overloads, sources)) <= MAX_OVERLOADS


@pytest.mark.parametrize("client", [Client, CachedClient])
@pytest.mark.parametrize(
    ("protocol", "verb"),
    [(Reader, "get"), (Reader, "find"), (Reader, "list"), (Writer, "create"), (Writer, "update"), (Writer, "apply")],
)
def test_clients_have_the_parameters_of_the_protocols(client: type, protocol: type, verb: str) -> None:
    """A client may have more options than the protocol, but none of the protocol's differs."""
    assert _parameters(protocol, verb).items() <= _parameters(client, verb).items()


@pytest.mark.parametrize("verb", ["update", "patch", "apply"])
def test_the_status_has_the_options_of_the_object(verb: str) -> None:
    """The options for the status are those for objects."""
    assert _parameters(StatusResource, verb) == _parameters(Client, verb)
    assert _parameters(StatusWriter, "update") == _parameters(Writer, "update")


@pytest.mark.parametrize("verb", ["update", "patch", "apply"])
def test_other_sub_resources_have_the_options_of_the_object(verb: str) -> None:
    """Other subresources have the same options, and ``answer``, the class of the result."""
    options = {name: each for name, each in _parameters(Client, verb).items() if each.kind is each.KEYWORD_ONLY}
    found = {name: each for name, each in _parameters(SubResource, verb).items() if each.kind is each.KEYWORD_ONLY}
    assert found.pop("answer").default is None
    assert found == options
