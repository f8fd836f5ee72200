"""Generated samples, which the API server accepts."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import pytest
from pydantic import AwareDatetime, Field

from examples.evc.evc import EphemeralVolumeClaim
from examples.podset.podset import PodSet
from pyctrl import CustomResource, Int32, IntOrString, Model
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.manifests import definition, sample
from pyctrl.program import install_definitions


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Port(Model):
    name: str = Field(min_length=9, max_length=12)
    number: Int32 = Field(ge=1024, le=65535, multiple_of=1000)
    protocol: str = "TCP"
    comment: str | None = None


class Spec(Model):
    size: Size
    percent: Annotated[int, Field(gt=10, lt=12)]
    below: Annotated[int, Field(le=-5)]
    host: str = Field(pattern=r"^[a-z]+\.[a-z]+$")
    ports: list[Port] = Field(min_length=2)
    at: AwareDatetime
    limit: IntOrString
    labels: dict[str, str]
    is_open: bool
    weight: float = 2.5
    note: str | None = None


class Everything(CustomResource[Spec], group="s.example.com", version="v1"):
    """Has fields of every type."""


class Bare(CustomResource[Model], group="s.example.com", version="v1", scope="Cluster"):
    """Has no required field."""


def test_it_has_what_is_required_and_what_has_defaults() -> None:
    """A sample has valid values for required and defaulted fields; optional fields without a default are left out."""
    made = sample(definition(Everything))
    port = {"name": "samplexxx", "number": 2000, "protocol": "TCP"}
    assert made["spec"] == {
        "size": "small",
        "percent": 11,
        "below": -5,
        "host": "example.com",
        "ports": [port, port],
        "at": "2030-01-01T00:00:00Z",
        "limit": 1,
        "labels": {},
        "isOpen": False,
        "weight": 2.5,
    }


@pytest.mark.parametrize("kind", [PodSet, EphemeralVolumeClaim, Everything, Bare])
async def test_the_server_takes_it(kind: type[CustomResource[Model, Model]]) -> None:
    """The server accepts a sample without changes."""
    made_of = definition(kind)
    made = sample(made_of)
    async with Client.connect(Config.in_process(ApiServer())) as client:
        await install_definitions(client, [made_of])
        assert (await client.apply(made)).metadata.name == f"{kind.resource.singular}-sample"
