"""An API server accepts the definitions that are generated from types."""

from __future__ import annotations

from typing import Any

import pytest

from examples.evc.evc import EphemeralVolumeClaim
from examples.podset.podset import PodSet
from pyctrl.api import Unstructured
from pyctrl.client import Client
from pyctrl.errors import Invalid
from pyctrl.kinds.batch.v1 import JobTemplateSpec
from pyctrl.kinds.core.v1 import PodTemplateSpec
from pyctrl.manifests import definition
from tests.unit.manifests import _seeds as seeds
from tests.unit.manifests._case import Case, sample_kind
from tests.unit.manifests._cases import CASES
from tests.unit.manifests.crd.test_definition import V1, V1Alpha1, V1Beta1

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

TEMPLATES = [Case("pod", PodTemplateSpec, {}), Case("job", JobTemplateSpec, {})]
DEFINITIONS: dict[str, dict[str, Any]] = {
    "every mark and every type": definition(sample_kind(CASES)),
    "templates": definition(sample_kind(TEMPLATES)),
    "three versions": definition(V1, V1Beta1, V1Alpha1, stored=V1),
    "PodSet": definition(PodSet),
    "EphemeralVolumeClaim": definition(EphemeralVolumeClaim),
    "PodSet of the seed": definition(seeds.PodSet),
    "MySrv": definition(seeds.MySrv),
    "CronTab": definition(seeds.CronTab),
    "CronTab, checked": definition(seeds.CheckedCronTab),
    "EphemeralVolumeClaim of the seed": definition(seeds.EphemeralVolumeClaim),
}


def elsewhere(made: dict[str, Any], group: str) -> dict[str, Any]:
    """Return a definition in the test's own group: the cluster may have the kind already."""
    spec = made["spec"]
    return {
        **made,
        "metadata": {**made["metadata"], "name": f"{spec['names']['plural']}.{group}"},
        "spec": {**spec, "group": group},
    }


async def test_the_server_takes_every_definition_without_a_warning(client: Client, namespace: str) -> None:
    """The server accepts each generated definition without a warning, unknown field or expensive rule."""
    for name, original in DEFINITIONS.items():
        made = elsewhere(original, f"{namespace}.pyctrl.test")
        taken = await client.create(Unstructured.from_wire(made), dry_run=True, field_validation="Strict")
        for mine, theirs in zip(made["spec"]["versions"], taken["spec"]["versions"], strict=True):
            assert theirs["schema"] == mine["schema"], name


async def test_the_root_of_a_schema_is_for_the_status_as_well(client: Client, namespace: str) -> None:
    """A rule at the root of a schema that would also apply to the status is rejected with the whole schema."""
    made = elsewhere(definition(PodSet), f"{namespace}.pyctrl.test")
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["minProperties"] = 1
    with pytest.raises(Invalid) as raised:
        await client.create(Unstructured.from_wire(made), dry_run=True)
    (cause,) = raised.value.causes
    assert cause.field == "spec.validation.openAPIV3Schema"
    assert '"Minimum":0,"ExclusiveMinimum":false,"MaxLength":null' in cause.message
    assert "Example XPreserveUnknownFields XValidations] fields are allowed at the root" in cause.message
