"""Lists: pages of one consistent state, versions, selectors, forms."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.api import LabelSelector
from pyctrl.apiserver._endpoints.list_selectors import label_selector_problem
from pyctrl.apiserver._storage.continue_token import decode_continue, encode_continue
from pyctrl.errors import SelectorError
from tests.unit.apiserver._kit import CONFIGMAPS, Asker

NO_INTEGER = "for 'Gt', 'Lt' operators, the value must be an integer"


def names(answer: Any) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


@pytest.mark.parametrize("path", [CONFIGMAPS, "/api/v1/configmaps"])
def test_pages_are_of_one_state(ask: Asker, path: str) -> None:
    """Objects made, changed or deleted between two pages do not show in the later ones."""
    for name in "abcdef":
        ask.make(name, data={"k": "old"})
    code, first = ask("GET", path, limit="2")
    assert (code, names(first), first["metadata"]["remainingItemCount"]) == (200, ["a", "b"], 4)
    ask("DELETE", f"{CONFIGMAPS}/d")
    ask.make("bb")
    ask.change("e", data={"k": "new"})
    token = first["metadata"]["continue"]
    _, second = ask("GET", path, limit="2", continue_=token)
    assert names(second) == ["c", "d"]
    _, third = ask("GET", path, limit="5", continue_=second["metadata"]["continue"])
    assert names(third) == ["e", "f"]
    assert third["items"][0]["data"] == {"k": "old"}
    assert {page["metadata"]["resourceVersion"] for page in (first, second, third)} == {
        first["metadata"]["resourceVersion"]
    }
    assert "continue" not in third["metadata"]


def test_pages_with_a_selector_do_not_count_what_remains(ask: Asker) -> None:
    """With a selector, kube-apiserver does not know how many remain, and neither does this server."""
    for number in range(5):
        ask.make(f"p{number}", labels={"odd": str(number % 2)})
    _, page = ask("GET", CONFIGMAPS, limit="2", labelSelector="odd=0")
    assert names(page) == ["p0", "p2"]
    assert "remainingItemCount" not in page["metadata"]
    _, rest = ask("GET", CONFIGMAPS, limit="2", labelSelector="odd=0", continue_=page["metadata"]["continue"])
    assert names(rest) == ["p4"]


def test_a_page_after_compaction_answers_410_with_a_token_to_go_on(ask: Asker) -> None:
    """An expired token is refused, and the refusal carries one that goes on with the present state."""
    for name in "abc":
        ask.make(name)
    _, page = ask("GET", CONFIGMAPS, limit="1")
    ask.make("d")
    ask.server.compact()
    code, expired = ask("GET", CONFIGMAPS, limit="1", continue_=page["metadata"]["continue"])
    assert (code, expired["reason"]) == (410, "Expired")
    code, rest = ask("GET", CONFIGMAPS, continue_=expired["metadata"]["continue"])
    assert (code, names(rest)) == (200, ["b", "c", "d"])


def test_a_list_at_an_exact_version_that_is_compacted_answers_410(ask: Asker) -> None:
    """Exact means exactly: when the version is gone, so is the answer."""
    old = ask.make("a")["metadata"]["resourceVersion"]
    ask.make("b")
    assert names(ask("GET", CONFIGMAPS, resourceVersion=old, resourceVersionMatch="Exact")[1]) == ["a"]
    ask.server.compact()
    code, expired = ask("GET", CONFIGMAPS, resourceVersion=old, resourceVersionMatch="Exact")
    assert (code, expired["reason"]) == (410, "Expired")


async def test_a_version_in_the_future_is_waited_for(ask: Asker) -> None:
    """A client that has seen a newer version elsewhere gets an answer that is not older, or 504."""
    future = str(ask.server.storage.version + 1)
    asyncio.get_running_loop().call_later(1, ask.make, "a")
    answer = await ask.server.handle("GET", CONFIGMAPS, [("resourceVersion", future)], {}, b"")
    assert answer.status == 200
    assert isinstance(answer.body, bytes)
    assert b'"a"' in answer.body
    answer = await ask.server.handle("GET", CONFIGMAPS, [("resourceVersion", "99999")], {}, b"")
    assert answer.status == 504


@pytest.mark.parametrize(("version", "code"), [("x", 400), ("-1", 400), ("9" * 30, 400), ("9" * 5000, 400), ("²", 400)])
async def test_a_version_that_is_no_number_is_refused(ask: Asker, version: str, code: int) -> None:
    """Text, negative and absurdly large versions are a client's mistake, never the server's."""
    answer = await ask.server.handle("GET", CONFIGMAPS, [("resourceVersion", version)], {}, b"")
    assert answer.status == code


def test_built_in_items_do_not_repeat_their_kind(ask: Asker) -> None:
    """Items of a built-in list have no kind and apiVersion of their own; a single object has."""
    ask.make("a")
    (item,) = ask("GET", CONFIGMAPS)[1]["items"]
    assert "kind" not in item
    assert "apiVersion" not in item
    assert ask("GET", f"{CONFIGMAPS}/a")[1]["kind"] == "ConfigMap"


def test_yaml_is_answered_to_who_asks_for_it(ask: Asker) -> None:
    """Accept: application/yaml gives the same object as YAML."""
    ask.make("a", data={"k": "v"})
    answer = ask.answer("GET", f"{CONFIGMAPS}/a", headers={"Accept": "application/yaml"})
    assert isinstance(answer.body, bytes)
    assert b"kind: ConfigMap\n" in answer.body
    assert ("Content-Type", "application/yaml") in answer.headers


@given(st.text("ab,=!()<> in", max_size=12))
def test_a_label_selector_is_parsed_or_has_a_problem(text: str) -> None:
    """What parses has no problem, and what does not has one: no selector is refused without saying why."""
    try:
        LabelSelector.parse(text)
    except SelectorError:
        return
    assert label_selector_problem(text) == ""


@given(st.integers(min_value=1, max_value=2**62), st.text(min_size=1).filter(lambda text: "\0" not in text))
def test_a_continue_token_reads_back(version: int, name: str) -> None:
    """What a token was written with is what it is read as, for any name."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return
    assert decode_continue(encode_continue(version, name)) == (version, f"{name}\0")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,", "found '', expected: identifier after ','"),
        ("a in x", "unable to parse requirement: found 'x' expected: '('"),
        ("a in (x", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("a=b,!c,d notin (e,f),g,h in (),i=,j>5", ""),
        ("", ""),
        ("a>x", 'unable to parse requirement: values[0]: Invalid value: "x": ' + NO_INTEGER),
        ("a/b/c", 'unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key must consist of '),
        ("a=" + "x" * 64, f'unable to parse requirement: values[0][a]: Invalid value: "{"x" * 64}": must be no more '),
    ],
)
def test_label_selectors_that_do_not_parse(text: str, problem: str) -> None:
    """A malformed selector is refused in the words of apimachinery's parser; a good one has no problem."""
    found = label_selector_problem(text)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


def test_a_field_that_cannot_be_selected_is_refused(ask: Asker) -> None:
    """Field selectors offer what the kind offers; anything else is 400, never an empty list."""
    assert ask("GET", CONFIGMAPS, fieldSelector="data.k=1")[0] == 400
    assert ask("GET", "/api/v1/pods", fieldSelector="spec.nodeName=x")[0] == 200
    assert ask("GET", "/api/v1/pods", fieldSelector="spec.hostname=x")[1]["message"] == (
        "field label not supported: spec.hostname"
    )
