"""CRDs of the kinds that a program reconciles."""

from __future__ import annotations

from pyctrl.program import definitions
from pyctrl.webhook import conversion_stanza
from tests.unit.program._jobs import (
    SERVICE,
    add_jobs,
)


async def test_the_definitions_of_a_program_have_all_of_it() -> None:
    """A CRD has all versions of a kind, stores the hub, and has the conversion webhook if its address is known."""
    (made,) = await definitions(add_jobs, target=SERVICE)
    assert [(each["name"], each["storage"]) for each in made["spec"]["versions"]] == [("v1", False), ("v2", True)]
    assert made["spec"]["conversion"] == conversion_stanza(SERVICE)
    (unknown,) = await definitions(add_jobs)
    assert unknown["spec"]["conversion"] == {"strategy": "Webhook"}
