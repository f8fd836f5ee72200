"""Names of definitions: each is accepted by itself, and one that becomes free goes to who waits for it."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._apiextensions.naming import accept_names
from tests.unit.apiserver._kit import MERGE, Asker

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NONE = {"plural": "", "kind": ""}
ONE = {"plural": "ones", "singular": "one", "shortNames": ["on"], "kind": "One", "listKind": "OneList"}


def _definition(plural: str, **names: Any) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object"}}
    return {
        "metadata": {"name": f"{plural}.x.io"},
        "spec": {
            "group": "x.io",
            "scope": "Namespaced",
            "names": {"plural": plural, **names},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def test_a_name_that_is_taken_does_not_take_the_others_away() -> None:
    """The names without a conflict are accepted; the condition names the last conflict, with all short names."""
    wanted = {
        "plural": "twos",
        "singular": "two",
        "shortNames": ["on", "one", "tw"],
        "kind": "Two",
        "listKind": "TwoList",
    }
    accepted, condition = accept_names(wanted, NONE, [ONE])
    assert accepted == {"plural": "twos", "singular": "two", "kind": "Two", "listKind": "TwoList"}
    assert condition == ("False", "ShortNamesConflict", '["on" is already in use, "one" is already in use]')


def test_a_definition_keeps_its_name_while_the_one_it_wants_is_taken() -> None:
    """A rename to a taken name leaves the accepted name; categories conflict with nothing."""
    accepted, condition = accept_names(
        {"plural": "twos", "kind": "One", "categories": ["all"]}, {"plural": "twos", "kind": "Two"}, [ONE]
    )
    assert accepted == {"plural": "twos", "kind": "Two", "categories": ["all"]}
    assert condition == ("False", "KindConflict", '"One" is already in use')


def test_a_name_that_becomes_free_is_accepted(ask: Asker) -> None:
    """A definition that waits for a kind is served when the definition with that kind is deleted or renamed."""
    ask("POST", DEFINITIONS, _definition("ones", kind="One", shortNames=["on"]))
    ask("POST", DEFINITIONS, _definition("twos", kind="Two", shortNames=["on"]))
    ask("POST", DEFINITIONS, _definition("threes", kind="One"))
    assert ask.answer("GET", "/apis/x.io/v1/threes").status == 404
    ask("PATCH", f"{DEFINITIONS}/ones.x.io", {"spec": {"names": {"shortNames": None}}}, headers=MERGE)
    assert ask("GET", f"{DEFINITIONS}/twos.x.io")[1]["status"]["acceptedNames"]["shortNames"] == ["on"]
    assert ask.answer("GET", "/apis/x.io/v1/twos").status == 200
    ask("DELETE", f"{DEFINITIONS}/ones.x.io")
    assert ask("GET", f"{DEFINITIONS}/threes.x.io")[1]["status"]["acceptedNames"]["kind"] == "One"
    assert ask.answer("GET", "/apis/x.io/v1/threes").status == 200
