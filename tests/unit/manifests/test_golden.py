"""Generated CRDs of the seed kinds equal those of controller-gen or their authors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pyctrl.api import KubernetesObject
from pyctrl.manifests import definition
from tests.unit.manifests._seeds import CheckedCronTab, CronTab, EphemeralVolumeClaim, MySrv, PodSet

GOLDEN = Path(__file__).parent / "golden"


def normalised(document: dict[str, Any]) -> dict[str, Any]:
    """Remove what the server itself or only older versions of controller-gen write.

    These are the generator's version, a status, the empty creationTimestamp and the fields of every object. The list
    kind, which the server sets, is added if missing.
    """
    metadata = {key: value for key, value in document["metadata"].items() if key == "name"}
    names = {"listKind": f"{document['spec']['names']['kind']}List", **document["spec"]["names"]}
    for version in document["spec"]["versions"]:
        properties = version["schema"]["openAPIV3Schema"]["properties"]
        for key in ("apiVersion", "kind", "metadata"):
            assert properties.pop(key, {}).get("type") in (None, "string", "object")
    return {**document, "metadata": metadata, "spec": {**document["spec"], "names": names}, "status": None}


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("podsets", PodSet),
        ("mysrvs", MySrv),
        ("crontabs", CronTab),
        ("crontabs_checked", CheckedCronTab),
        ("ephemeralvolumeclaims", EphemeralVolumeClaim),
    ],
)
def test_a_seeds_definition_is_made_of_its_types(file: str, kind: type[KubernetesObject]) -> None:
    """The CRD generated from a seed's types equals the seed's CRD."""
    golden = yaml.safe_load((GOLDEN / f"{file}.yaml").read_text())
    assert normalised(definition(kind)) == normalised(golden)
