"""Classes imported from CRDs: they generate the same CRD, pass type checks and are well formatted."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
import yaml

from pyctrl.api import Condition, KubernetesObject, set_condition
from pyctrl.apiserver._apiextensions.structural import validate_schema
from pyctrl.errors import DecodeError
from pyctrl.kinds.core.v1 import Toleration
from pyctrl.manifests import definition, import_definitions
from pyctrl.manifests._crd_import.known_types import known_type
from tests.unit.manifests._schemas import schema

HERE = Path(__file__).parents[1]
FOREIGN = sorted((HERE / "foreign").glob("*.yaml"))
OURS = sorted((HERE / "golden").glob("*.yaml"))
PAIRS = 120  # random schemas; takes a second of CPU time


def definitions(file: Path) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(file.read_text()) if each]


def load(code: str, folder: Path) -> ModuleType:
    """Import the code from a file, because docstrings of fields are read from there."""
    file = folder / f"imported_{abs(hash(code))}.py"
    file.write_text(code)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def again(given: Sequence[Mapping[str, Any]], folder: Path) -> dict[str, Any]:
    """Import CRDs and generate the CRD of their classes."""
    imported = import_definitions(given)
    module = load(imported.code, folder)
    kinds: list[type[KubernetesObject]] = [getattr(module, name) for name in imported.kinds]
    return definition(*kinds)


# -- comparison -------------------------------------------------------------------------------------------------------


RAW = ("default", "enum", "example", "externalDocs", "required", "x-kubernetes-validations")


def normal(of: Mapping[str, Any], *, name: str = "", is_root: bool = False) -> dict[str, Any]:
    """Return a schema without order, empty parts and descriptions, with Kubernetes' own types by name."""
    if not is_root and (known := known_type(of, name=name)):
        return {"known": known[0]}
    found: dict[str, Any] = {}
    for key, value in of.items():
        if key == "properties":
            own = {each: part for each, part in value.items() if not (is_root and each in ("apiVersion", "kind"))}
            found[key] = {each: normal(part, name="" if is_root else each) for each, part in own.items()}
            if is_root and found[key].get("metadata") == {"type": "object"}:
                del found[key]["metadata"]
        elif key in RAW or not isinstance(value, (dict, list)):
            found[key] = value
        elif isinstance(value, dict):
            found[key] = normal(value)
        else:
            found[key] = [normal(each) if isinstance(each, dict) else each for each in value]
    found["required"] = sorted(set(found.get("required") or ()) - ({"metadata"} if is_root else set()))
    silent = {
        "x-kubernetes-list-type": "atomic",
        "x-kubernetes-map-type": "granular",
        "description": "",
        "properties": {},
    }
    kept = {key: value for key, value in found.items() if value not in ([], None, "") and value is not False}
    return {key: value for key, value in kept.items() if key != "description" and silent.get(key) != value}


def versions(of: Mapping[str, Any]) -> dict[str, Any]:
    return {
        each["name"]: {
            **{key: each[key] for key in ("served", "storage", "deprecated", "deprecationWarning") if each.get(key)},
            "subresources": each.get("subresources") or {},
            "columns": each.get("additionalPrinterColumns") or [],
            "selectable": each.get("selectableFields") or [],
            "schema": normal(each["schema"]["openAPIV3Schema"], is_root=True),
        }
        for each in of["spec"]["versions"]
    }


def names(of: Mapping[str, Any]) -> dict[str, Any]:
    spec = of["spec"]
    given = {key: value for key, value in spec["names"].items() if value}
    kind = given["kind"]
    return {
        "listKind": f"{kind}List",
        "singular": kind.lower(),
        **given,
        "group": spec["group"],
        "scope": spec["scope"],
        "name": of["metadata"]["name"],
    }


@pytest.mark.parametrize("file", [*FOREIGN, *OURS], ids=lambda file: file.stem)
def test_there_and_back(file: Path, tmp_path: Path) -> None:
    """The CRD of the imported classes is equivalent to the original for a server."""
    for given in definitions(file):
        made = again([given], tmp_path)

        assert names(made) == names(given)
        assert versions(made) == versions(given)


@pytest.mark.parametrize("file", FOREIGN, ids=lambda file: file.stem)
def test_what_is_written(file: Path) -> None:
    """The generated source equals the checked-in file, which passes this repository's type and format checks."""
    imported = import_definitions(definitions(file))

    assert imported.code == (HERE / "imported" / f"{file.stem}.py").read_text()
    assert not imported.notes


def test_any_schema_there_and_back(tmp_path: Path) -> None:
    """For any schema, the classes generate the same schema, or the notes list the difference."""
    random, tried = Random(20261121), 0
    for _ in range(PAIRS):
        root = {"type": "object", "properties": {"spec": schema(random)}}
        if random.random() < 0.5:
            root["required"] = ["spec"]
        if validate_schema(root, ""):
            continue
        given = widget(root)
        imported = import_definitions([given])
        made = definition(load(imported.code, tmp_path).Widget)
        tried += not imported.notes

        assert imported.notes or versions(made) == versions(given), imported.code

    assert tried > PAIRS / 4


def widget(root: dict[str, Any]) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}
    names = {"kind": "Widget", "plural": "widgets"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": "widgets.example.com"}, "spec": spec}


def test_what_classes_cannot_say() -> None:
    """An unsupported keyword is listed in the notes and as a comment in the source, with its path."""
    part = {"type": "object", "properties": {"a": {"type": "string"}}, "oneOf": [{"required": ["a"]}]}
    root = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"parts": part}}}}

    imported = import_definitions([widget(root)])

    assert imported.notes == ("oneOf of spec.parts",)
    assert "\n# Not in the classes: oneOf of spec.parts\n" in imported.code


def test_objects_of_imported_kinds(tmp_path: Path) -> None:
    """Objects of an imported kind decode typed, also without a status, and are encoded unchanged."""
    route = load(import_definitions(definitions(HERE / "foreign" / "httproute.yaml")).code, tmp_path).HTTPRouteV1
    wire = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"hostnames": ["example.com"], "rules": [{"backendRefs": [{"name": "web", "port": 80}], "new": 1}]},
    }

    read = route.from_wire(wire)

    assert read.spec.rules[0].backend_refs[0].port == 80
    assert read.spec.rules[0].backend_refs[0].weight == 1
    assert read.status.parents == []
    assert read.to_wire() == wire
    with pytest.raises(DecodeError, match="hostnames"):
        route.from_wire({**wire, "spec": {"hostnames": ["not a host"]}})


def test_parts_that_kubernetes_has_types_for(tmp_path: Path) -> None:
    """Conditions and parts of pods have Kubernetes' types, so helpers for these types accept them."""
    certificate = load(
        import_definitions(definitions(HERE / "foreign" / "certificate.yaml")).code, tmp_path
    ).Certificate
    pool = load(import_definitions(definitions(HERE / "foreign" / "pool.yaml")).code, tmp_path).Pool
    made = certificate(spec={"secretName": "a", "issuerRef": {"name": "b"}})

    set_condition(made.status.conditions, Condition(type="Ready", status="True", reason="Issued", message=""))

    assert made.to_wire()["status"]["conditions"][0]["type"] == "Ready"
    assert pool(size=1, template={"spec": {"tolerations": [{"key": "a"}]}}).template.spec.tolerations == [
        Toleration(key="a")
    ]


def test_a_part_that_looks_like_one_of_kubernetes_keeps_its_fields(tmp_path: Path) -> None:
    """Name, value and valueFrom are an EnvVar only if valueFrom has an EnvVar's sources."""
    text = {"type": "string"}
    source = {"type": "object", "properties": {"podTemplateHashValue": text}}
    argument = {"type": "object", "properties": {"name": text, "value": text, "valueFrom": source}}
    spec = {"type": "object", "properties": {"args": {"type": "array", "items": argument}}}
    code = import_definitions([widget({"type": "object", "properties": {"spec": spec}})]).code
    assert "pod_template_hash_value: str" in code
    assert "EnvVar" not in code
