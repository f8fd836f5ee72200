"""CRDs: everything except the schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from pyctrl.api import (
    AGE,
    CustomResource,
    Int32,
    KubernetesObject,
    MetadataName,
    Model,
    PrinterColumn,
    Required,
    ScaleSubresource,
    Time,
)
from pyctrl.kinds.core.v1 import PodTemplateSpec
from pyctrl.manifests import check_definition, definition
from pyctrl.program import Target
from pyctrl.webhook import Service, conversion_stanza
from tests.unit.manifests._case import Case, sample_kind
from tests.unit.manifests._seeds import PodSet


class Spec(Model):
    replicas: Int32 = 1
    color: str = ""
    ratio: float | None = None
    is_open: bool = False
    names: dict[str, str] = {}


class Status(Model):
    replicas: Int32 = 0
    selector: str = ""
    since: Time | None = None


class V1(
    CustomResource[Spec, Status],
    group="a.pyctrl.test",
    version="v1",
    kind="Thing",
    categories=("all",),
    annotations={"one": "1"},
    columns=(
        PrinterColumn("Replicas", ".spec.replicas", description="How many.", format="int32"),
        PrinterColumn("Ratio", ".spec.ratio"),
        PrinterColumn("Open", ".spec.isOpen"),
        PrinterColumn("Color", ".spec.color", priority=1),
        PrinterColumn("Since", ".status.since"),
        PrinterColumn("Team", ".metadata.labels['team']"),
        PrinterColumn("Name", ".spec.names.en"),
        AGE,
    ),
    scale=ScaleSubresource(label_selector_path=".status.selector"),
    selectable_fields=(".spec.color",),
    marks=(MetadataName(max_length=20, pattern="^[a-z]+$"),),
):
    """Thing is a thing.

    It has a second paragraph.

    Args:
        none: this is for readers of the code.
    """


class V1Beta1(
    CustomResource[Spec, Status],
    group="a.pyctrl.test",
    version="v1beta1",
    kind="Thing",
    categories=("all",),
    deprecated="use v1",
    labels={"two": "2"},
):
    pass


class V1Alpha1(
    CustomResource[Spec], group="a.pyctrl.test", version="v1alpha1", kind="Thing", categories=("all",), served=False
):
    pass


def version_of(made: dict[str, Any], name: str) -> dict[str, Any]:
    return next(version for version in made["spec"]["versions"] if version["name"] == name)


def test_a_definition_is_named_and_versioned_as_its_kind() -> None:
    """A CRD has the names, the scope and the version of its class, and stores its only version."""
    found = definition(PodSet)
    assert found["metadata"] == {"name": "podsets.apps.jicki.cn"}
    assert found["spec"]["scope"] == "Namespaced"
    assert found["spec"]["names"] == {
        "kind": "PodSet",
        "listKind": "PodSetList",
        "plural": "podsets",
        "singular": "podset",
    }
    version = found["spec"]["versions"][0]
    assert (version["name"], version["served"], version["storage"]) == ("v1alpha1", True, True)


def test_names_and_scope_are_what_the_class_says() -> None:
    """Plural, singular, short names, categories and scope come from class keywords."""

    class Admiral(
        CustomResource[Spec],
        group="a.pyctrl.test",
        version="v1",
        plural="admirales",
        singular="adm",
        short_names=("ad", "am"),
        categories=("all", "navy"),
        scope="Cluster",
    ):
        pass

    spec = definition(Admiral)["spec"]
    assert spec["scope"] == "Cluster"
    assert spec["names"] == {
        "kind": "Admiral",
        "listKind": "AdmiralList",
        "plural": "admirales",
        "singular": "adm",
        "shortNames": ["ad", "am"],
        "categories": ["all", "navy"],
    }


def test_versions_of_a_kind_are_one_definition() -> None:
    """Versions are sorted by name; one is stored, and each is served and deprecated as its class defines."""
    made = definition(V1, V1Beta1, V1Alpha1, stored=V1)
    found = [(version["name"], version["served"], version["storage"]) for version in made["spec"]["versions"]]
    assert found == [("v1", True, True), ("v1alpha1", False, False), ("v1beta1", True, False)]
    assert version_of(made, "v1beta1")["deprecated"] is True
    assert version_of(made, "v1beta1")["deprecationWarning"] == "use v1"
    assert "deprecated" not in version_of(made, "v1")
    assert made["metadata"] == {
        "name": "things.a.pyctrl.test",
        "annotations": {"one": "1"},
        "labels": {"two": "2"},
    }


def test_the_order_of_versions_makes_no_difference() -> None:
    """The order of versions does not change the CRD or the order of its keys."""
    one, other = definition(V1, V1Beta1, stored=V1), definition(V1Beta1, V1, stored=V1)
    assert list(map(str, one["spec"].items())) == list(map(str, other["spec"].items()))
    assert str(definition(PodSet)) == str(definition(PodSet))


def test_a_version_may_say_itself_that_it_is_stored() -> None:
    """The class keyword ``stored`` selects the stored version; a deprecation needs no message."""

    class V2(
        CustomResource[Spec],
        group="a.pyctrl.test",
        version="v2",
        kind="Thing",
        categories=("all",),
        stored=True,
        deprecated=True,
    ):
        pass

    made = definition(V1, V2)
    assert [version["storage"] for version in made["spec"]["versions"]] == [False, True]
    assert "deprecationWarning" not in version_of(made, "v2")
    assert version_of(made, "v2")["deprecated"] is True


def test_columns_have_the_type_of_what_they_show() -> None:
    """A column has the type of the field at its path; times are dates, maps and labels are strings."""
    columns = version_of(definition(V1), "v1")["additionalPrinterColumns"]
    assert [(column["name"], column["type"]) for column in columns] == [
        ("Replicas", "integer"),
        ("Ratio", "number"),
        ("Open", "boolean"),
        ("Color", "string"),
        ("Since", "date"),
        ("Team", "string"),
        ("Name", "string"),
        ("Age", "date"),
    ]
    assert columns[0] == {
        "name": "Replicas",
        "type": "integer",
        "jsonPath": ".spec.replicas",
        "format": "int32",
        "description": "How many.",
    }
    assert columns[3]["priority"] == 1


def test_subresources_and_selectable_fields_are_what_the_class_says() -> None:
    """Status and scale are sub-resources, and the declared fields are selectable."""
    version = version_of(definition(V1), "v1")
    assert version["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    }
    assert version["selectableFields"] == [{"jsonPath": ".spec.color"}]


def test_the_names_of_objects_can_be_narrowed() -> None:
    """`MetadataName` restricts the names of objects."""
    schema = version_of(definition(V1), "v1")["schema"]["openAPIV3Schema"]
    name = {"type": "string", "maxLength": 20, "pattern": "^[a-z]+$"}
    assert schema["properties"]["metadata"] == {"type": "object", "properties": {"name": name}}


def test_docstrings_are_descriptions_without_what_is_for_programmers() -> None:
    """The description has the paragraphs of the docstring without sections such as Args."""
    schema = version_of(definition(V1), "v1")["schema"]["openAPIV3Schema"]
    assert schema["description"] == "Thing is a thing.\n\nIt has a second paragraph."


def test_a_field_is_described_by_itself_or_by_its_class() -> None:
    """A field's own description or docstring takes precedence over the docstring of its class."""

    class Part(Model):
        """A part."""

        size: int = 1
        """How large.

        :meta private: or so
        """

    class Whole(Model):
        first: Part | None = None
        second: Part | None = Field(None, description="The second.")
        third: Part | None = None
        """The third."""

    properties = schema_of(Whole)["properties"]
    assert [properties[name]["description"] for name in ("first", "second", "third")] == [
        "A part.",
        "The second.",
        "The third.",
    ]
    assert properties["first"]["properties"]["size"]["description"] == "How large."


def schema_of(cls: type[Model]) -> dict[str, Any]:
    version = definition(sample_kind([Case("x", cls, {})]))["spec"]["versions"][0]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["x"]
    return found


def test_a_status_that_nobody_describes_keeps_everything() -> None:
    """A kind without a status class has a status that keeps all fields, unless the sub-resource is off."""

    class Plain(CustomResource[Spec], group="a.pyctrl.test", version="v1"):
        pass

    class Bare(CustomResource[Spec], group="a.pyctrl.test", version="v1", subresources=()):
        pass

    properties = definition(Plain)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert properties["status"] == {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    bare = definition(Bare)["spec"]["versions"][0]
    assert "status" not in bare["schema"]["openAPIV3Schema"]["properties"]
    assert "subresources" not in bare


def test_a_kind_need_not_have_spec_and_status() -> None:
    """A kind may have any fields instead of spec and status, as ConfigMap has data."""

    class Words(KubernetesObject, group="a.pyctrl.test", version="v1"):
        data: dict[str, str] = {}

    schema = definition(Words)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert set(schema["properties"]) == {"apiVersion", "kind", "metadata", "data"}


def test_a_pod_template_keeps_its_labels() -> None:
    """Built-in parts have Kubernetes' schema; the metadata of a template keeps its labels."""
    template = definition(sample_kind([Case("x", PodTemplateSpec, {})]))
    version = template["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    found = version["properties"]["spec"]["properties"]["x"]["properties"]
    assert set(found["metadata"]["properties"]) == {"annotations", "finalizers", "labels", "name", "namespace"}
    ports = found["spec"]["properties"]["containers"]["items"]["properties"]["ports"]
    assert ports["x-kubernetes-list-map-keys"] == ["containerPort", "protocol"]
    assert ports["items"]["properties"]["protocol"] == {"type": "string", "default": "TCP"}
    assert ports["items"]["required"] == ["containerPort"]


def test_an_embedded_object_of_ones_own_kind_has_its_metadata() -> None:
    """A kind as a field is an object with apiVersion, kind and metadata."""
    found = schema_of(PodSet)
    assert set(found["properties"]) == {"apiVersion", "kind", "metadata", "spec", "status"}
    assert set(found["properties"]["metadata"]["properties"]) >= {"name", "labels"}


def test_a_subclass_inherits_fields_marks_and_words() -> None:
    """A subclass inherits fields, marks and, without its own docstring, the description."""

    class More(Spec):
        weight: Annotated[int | None, Required(False)] = None

    assert set(schema_of(More)["properties"]) == {"color", "isOpen", "names", "ratio", "replicas", "weight"}


def test_fields_that_are_never_written_are_left_out() -> None:
    """``Field(exclude=True)`` keeps a field out of the schema."""

    class Hidden(Model):
        seen: int = 1
        secret: int = Field(2, exclude=True)

    assert set(schema_of(Hidden)["properties"]) == {"seen"}


def test_a_conversion_is_part_of_the_definition() -> None:
    """The CRD contains the conversion stanza of the webhook package."""
    stanza = conversion_stanza(Service("system", "hooks"))
    made = definition(V1, V1Beta1, stored=V1, conversion=stanza)
    assert made["spec"]["conversion"]["strategy"] == "Webhook"
    assert made["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"] == "hooks"


def test_a_definition_of_ones_own_hand_is_checked_in_the_servers_words() -> None:
    """`check_definition` returns the server's errors for any CRD, and none for a valid one."""
    made = definition(PodSet)
    assert check_definition(made) == []
    version = made["spec"]["versions"][0]
    version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["size"] = {"$ref": "#/x"}
    version["schema"]["openAPIV3Schema"]["minProperties"] = 1
    made["spec"]["names"]["plural"] = "Podsets"
    found = check_definition(made)
    assert 'metadata.name: Invalid value: "podsets.apps.jicki.cn": must be spec.names.plural+"."+spec.group' in found
    assert any(each.endswith("properties[size].$ref: Forbidden: $ref is not supported") for each in found), found
    assert any("fields are allowed at the root of the schema if the status" in each for each in found)
    assert check_definition({**definition(PodSet), "spce": {}}) == ['spce: unknown field "spce"']


@pytest.mark.parametrize("field", ["api_version", "kind", "metadata"])
def test_what_every_object_has_is_not_described_anew(field: str) -> None:
    """apiVersion, kind and metadata have the required types and no description, because the server adds its own."""
    schema = definition(PodSet)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    wire = {"api_version": "apiVersion"}.get(field, field)
    assert schema[wire] == {"type": "object" if field == "metadata" else "string"}


def test_what_is_said_below_a_field_is_read_again_when_the_file_is_saved(tmp_path: Path) -> None:
    """A reimported class, as in `pyctrl dev`, has the new field descriptions."""
    text = 'from pyctrl import Model\nclass Spec(Model):\n    size: int\n    """The {} one."""\n'
    told = []
    for word in ("first", "second"):
        file = tmp_path / "said.py"
        file.write_text(text.format(word))
        place = Target.parse(str(file)).place
        with place.reimported():
            made = definition(sample_kind([Case("x", place.load().Spec, {})]))
        spec = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        told.append(spec["properties"]["x"]["properties"]["size"]["description"])
    assert told == ["The first one.", "The second one."]
