"""The scorecard: its configuration, and the results of five of its tests without a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyctrl.packaging._bundle.contents import BundleProblem, Contents

__all__ = ["CONFIGURATION", "scorecard_problems"]

IMAGE = "quay.io/operator-framework/scorecard-test:v1.42.0"
TESTS = {
    "basic-check-spec": "basic",
    "olm-bundle-validation": "olm",
    "olm-crds-have-validation": "olm",
    "olm-crds-have-resources": "olm",
    "olm-spec-descriptors": "olm",
    "olm-status-descriptors": "olm",
}

#: The configuration file of ``operator-sdk scorecard``.
CONFIGURATION: dict[str, Any] = {
    "apiVersion": "scorecard.operatorframework.io/v1alpha3",
    "kind": "Configuration",
    "metadata": {"name": "config"},
    "stages": [
        {
            "parallel": True,
            "tests": [
                {
                    "entrypoint": ["scorecard-test", name],
                    "image": IMAGE,
                    "labels": {"suite": suite, "test": f"{name}-test"},
                    "storage": {"spec": {"mountPath": {}}},
                }
                for name, suite in TESTS.items()
            ],
        }
    ],
    "storage": {"spec": {"mountPath": {}}},
}


def scorecard_problems(contents: Contents) -> Iterator[BundleProblem]:
    """Yield the problems that the scorecard would report for a bundle; other rules check that it is valid."""
    owned = contents.owned()
    for each in owned:
        if not each.get("resources"):
            text = f"{each.get('name')} has no resources: name the kinds that its controller owns or watches"
            yield contents.csv_error("spec.customresourcedefinitions.owned", text)
    for example in contents.examples():
        kind, spec, status = example.get("kind"), example.get("spec"), example.get("status")
        description = next((each for each in owned if each.get("kind") == kind), None)
        if description is None:
            continue  # an example of a kind that is not provided, which `rule_problems` reports
        if not isinstance(spec, dict):
            yield contents.csv_error("metadata.annotations.alm-examples", f"the example of {kind} has no spec")
            continue
        yield from _undescribed(contents, description, kind, "spec", spec)
        if isinstance(status, dict) and status and not description.get("statusDescriptors"):
            yield contents.csv_error("spec.customresourcedefinitions.owned", f"{kind} has no statusDescriptors")
        yield from _unvalidated(contents, example)


def _undescribed(
    contents: Contents, description: Mapping[str, Any], kind: Any, part: str, fields: Mapping[str, Any]
) -> Iterator[BundleProblem]:
    described = {each.get("path") for each in description.get(f"{part}Descriptors") or ()}
    for name in sorted(set(fields) - described):
        text = f"{part} of {kind} has {name!r} in its example, but no {part}Descriptor with that path"
        yield contents.csv_error("spec.customresourcedefinitions.owned", text)


def _unvalidated(contents: Contents, example: Mapping[str, Any]) -> Iterator[BundleProblem]:
    """Yield the fields of an example that are not in the schema of its kind."""
    for source, definition in contents.definitions():
        spec = definition.get("spec") or {}
        for version in spec.get("versions") or ():
            wire = (f"{spec.get('group')}/{version.get('name')}", (spec.get("names") or {}).get("kind"))
            schema = (version.get("schema") or {}).get("openAPIV3Schema")
            if wire != (example.get("apiVersion"), example.get("kind")) or schema is None:
                continue
            for part in ("spec", "status"):
                known = ((schema.get("properties") or {}).get(part) or {}).get("properties") or {}
                for name in sorted(set(example.get(part) or ()) - set(known)):
                    text = f"the schema of {wire[1]} lacks {part}.{name}, which its example has"
                    yield BundleProblem("scorecard", source, f"spec.versions.{version['name']}", text)
