"""Admission requests for webhooks in tests, as an API server sends them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from pydantic import Field, model_validator

from pyctrl.api import CustomResource, GroupVersionResource, Key, Model
from pyctrl.errors import DecodeError
from pyctrl.testing import admission_request, sample_of
from pyctrl.webhook import Operation, defaulting, validating
from tests.unit.dev._programs import PROGRAM, SAMPLE
from tests.unit.webhook._kinds import PodSet, PodSetSpec, PodSetWebhook


def podset(size: int) -> PodSet:
    """Return a PodSet with a size."""
    made = sample_of(PodSet)
    made.spec = PodSetSpec(size=size)
    return made


def test_what_is_asked_follows_from_the_objects() -> None:
    """Operation, user and namespace of a request follow from the objects."""
    made = admission_request(podset(1), username="joe", groups=["ops"], dry_run=True)
    assert (made.operation, made.key, made.dry_run) == (Operation.CREATE, Key("default", "podset-sample"), True)
    assert made.resource == GroupVersionResource("apps.jicki.cn", "v1alpha1", "podsets")
    assert (made.user.username, made.user.groups, made.old_object) == ("joe", ("ops",), None)
    updated = admission_request(podset(2), old=podset(1))
    assert updated.operation is Operation.UPDATE
    assert (updated.old_object or {})["spec"] == {"size": 1}
    deleted = admission_request(podset(1), operation="DELETE")
    assert (deleted.object, (deleted.old_object or {})["kind"]) == (None, "PodSet")


async def test_whole_handlers_take_it() -> None:
    """A handler decodes the objects of the request, and answers as for a server."""
    patched = await defaulting(PodSet, PodSetWebhook())(admission_request(podset(2)))
    assert [each["path"] for each in patched.patch] == ["/spec/image"]
    answer = await validating(PodSet, PodSetWebhook())(admission_request(podset(200)))
    assert answer.warnings == ("that is a lot",)


class Fussy(Model):
    low: int = Field(ge=1)

    @model_validator(mode="after")
    def _is_never_right(self) -> Fussy:
        raise ValueError("not like this")


class Picky(CustomResource[Fussy], group="pyctrl.test", version="v1"):
    """Has a rule outside of its schema."""


def test_the_sample_of_the_project_comes_before_one_that_is_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project's sample, found next to the class's module by kind and version, wins over a generated one."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "crates.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "crates", sys)  # so that the imported module is removed afterwards
    del sys.modules["crates"]
    kind = importlib.import_module("crates").Box
    assert sample_of(kind).key == Key("default", "box-sample")
    (tmp_path / "config" / "samples").mkdir(parents=True)
    sample = tmp_path / "config" / "samples" / "mine.yaml"
    sample.write_text(SAMPLE.replace("/v1\n", "/v2\n"))
    assert sample_of(kind).key == Key("default", "box-sample")
    sample.write_text(SAMPLE)
    assert (sample_of(kind).metadata.name, sample_of(kind).spec.size) == ("sample", 2)


def test_a_sample_that_cannot_be_made_up() -> None:
    """The error names the rule that a generated sample breaks."""
    with pytest.raises(DecodeError, match="not like this"):
        sample_of(Picky)
