"""The declaration of built-in kinds: one file adds a kind."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pyctrl import _schemas
from pyctrl.apiserver import ApiServer, ResourceRegistry, Response, _registry
from pyctrl.apiserver._registry.builtin_resource import builtin_resources

GROUP = "widgets.example.com"
PATH = f"/apis/{GROUP}/v1/namespaces/default/widgets"
TABLE = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}

#: The only file that is added to the package: defaults, validation, generation, field selectors, table cells, a
#: subresource, a conversion and a deprecation of the kind Widget.
WIDGETS = """
from pyctrl.apiserver._errors import Response, invalid_value
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Strategy, fields_at
from pyctrl.apiserver._schema.defaulting import set_defaults


def default(obj):
    set_defaults(obj["spec"], color="grey")


def prepare(new, old):
    if old is None:
        new["status"] = {"polished": 0}


def validate(new, old):
    if new["spec"]["color"] == "plaid":
        yield invalid_value("spec.color", "plaid", "must be a color")


def cells(obj):
    return {"Color": obj["spec"]["color"]}


class PolishREST:
    def __init__(self, context):
        self._backend = context.backend

    def create(self, request):
        widget = self._backend.live(request).read(request.resource)
        widget["status"]["polished"] = widget["status"].get("polished", 0) + 1
        self._backend.put(widget, request.resource)
        return Response(status=201, headers=(), body=b"polished")


def from_paint(obj):
    spec = dict(obj["spec"])
    return {**obj, "spec": {"color": spec.pop("paint"), **spec}}


def from_color(obj):
    spec = dict(obj["spec"])
    return {**obj, "spec": {"paint": spec.pop("color"), **spec}}


RESOURCES = (
    BuiltinResource(
        group="widgets.example.com",
        kind="Widget",
        strategy=Strategy(
            has_generation=True,
            keeps_status_on_create=True,
            fields=fields_at("spec.color"),
            defaults=(default,),
            prepares=(prepare,),
            validates=(validate,),
        ),
        cells=cells,
        rest={"polish": PolishREST},
        conversions={"widgets.example.com/v1": from_paint, "widgets.example.com/v1beta1": from_color},
        deprecation="widgets are going out of fashion",
    ),
)
"""


def _document(version: str, field: str) -> dict[str, Any]:
    """Return the OpenAPI document of a version of the group."""
    core = _schemas.load("coordination.k8s.io_v1")["schemas"]
    component = f"com.example.widgets.{version}.Widget"
    kind = {"group": GROUP, "version": version, "kind": "Widget"}
    shared = {name: schema for name, schema in core.items() if name.startswith("io.k8s.apimachinery.")}
    reference = {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]}
    widget = {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {**reference, "default": {}},
            "spec": {"type": "object", "properties": {field: {"type": "string"}}},
            "status": {"type": "object", "properties": {"polished": {"type": "integer"}}},
        },
        "x-kubernetes-group-version-kind": [kind],
    }
    return {"path": f"apis/{GROUP}/{version}", "schemas": {**shared, component: widget}}


def _load(name: str) -> Mapping[str, Any]:
    """Load the documents of a kube-apiserver that serves widgets: discovery, OpenAPI and table columns."""
    if name == f"{GROUP}_v1":
        return _document("v1", "color")
    if name == f"{GROUP}_v1beta1":
        return _document("v1beta1", "paint")
    document = _schemas.load(name)
    if name == "discovery":
        widgets = {
            "resource": "widgets",
            "singularResource": "widget",
            "responseKind": {"group": "", "version": "", "kind": "Widget"},
            "scope": "Namespaced",
            "verbs": ["create", "delete", "get", "list", "update", "watch"],
            "subresources": [{"subresource": "polish", "verbs": ["create"]}],
        }
        versions = [{"version": version, "resources": [widgets]} for version in ("v1", "v1beta1")]
        document["/apis"].append({"metadata": {"name": GROUP}, "versions": versions})
    elif name == "tables":
        columns = ({"name": each, "type": "string", "format": "", "priority": 0} for each in ("Name", "Color", "Age"))
        document[f"/apis/{GROUP}/v1/widgets"] = list(columns)
    return document


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """Return a server with an additional built-in kind, which one file declares."""
    (tmp_path / "widgets.py").write_text(WIDGETS)
    monkeypatch.setattr(_registry, "__path__", [*_registry.__path__, str(tmp_path)])
    builtin_resources.cache_clear()
    yield ApiServer(registry=ResourceRegistry(_load), random=Random(1))
    builtin_resources.cache_clear()
    sys.modules.pop(f"{_registry.__name__}.widgets", None)


def _send(
    server: ApiServer,
    method: str,
    path: str,
    body: Any = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[Response, Any]:
    data = b"" if body is None else json.dumps(body).encode()
    answer = server.handle_nowait(method, path, list((query or {}).items()), headers or {}, data)
    assert isinstance(answer.body, bytes)
    return answer, json.loads(answer.body) if answer.body.startswith(b"{") else answer.body


def _create(server: ApiServer, name: str = "w", **spec: str) -> tuple[Response, Any]:
    return _send(server, "POST", PATH, {"metadata": {"name": name}, "spec": spec})


def test_one_file_adds_a_kind(server: ApiServer) -> None:
    """A new widget is defaulted and prepared, an invalid one is refused, and each response has a warning."""
    answer, widget = _create(server)
    assert (answer.status, widget["spec"], widget["status"]) == (201, {"color": "grey"}, {"polished": 0})
    assert widget["metadata"]["generation"] == 1
    assert ("Warning", '299 - "widgets are going out of fashion"') in answer.headers
    answer, status = _create(server, "p", color="plaid")
    assert (answer.status, status["details"]["causes"][0]["field"]) == (422, "spec.color")


def test_its_table_has_its_cells(server: ApiServer) -> None:
    """The declared cells fill the columns that the documents define."""
    _create(server, color="red")
    _, table = _send(server, "GET", PATH, headers=TABLE)
    assert [each["name"] for each in table["columnDefinitions"]] == ["Name", "Color", "Age"]
    assert table["rows"][0]["cells"][:2] == ["w", "red"]


def test_its_field_labels_select(server: ApiServer) -> None:
    """A list can select by the declared fields, and by no others."""
    _create(server, "r", color="red")
    _create(server, "b", color="blue")
    _, found = _send(server, "GET", PATH, query={"fieldSelector": "spec.color=blue"})
    assert [each["metadata"]["name"] for each in found["items"]] == ["b"]
    answer, _ = _send(server, "GET", PATH, query={"fieldSelector": "spec.size=1"})
    assert answer.status == 400


def test_its_subresource_answers(server: ApiServer) -> None:
    """The declared subresource handles its method and refuses the others."""
    _create(server)
    answer, body = _send(server, "POST", f"{PATH}/w/polish")
    assert (answer.status, body) == (201, b"polished")
    assert _send(server, "GET", f"{PATH}/w")[1]["status"] == {"polished": 1}
    assert _send(server, "PUT", f"{PATH}/w/polish")[0].status == 405


def test_its_versions_convert(server: ApiServer) -> None:
    """An object is served in each version in the form of that version."""
    _create(server, color="red")
    other = PATH.replace("/v1/", "/v1beta1/")
    _, found = _send(server, "GET", f"{other}/w")
    assert (found["apiVersion"], found["spec"]) == (f"{GROUP}/v1beta1", {"paint": "red"})


def test_a_kind_is_declared_once(server: ApiServer, tmp_path: Path) -> None:
    """A second declaration of a kind is an error that names the file and the kind."""
    (tmp_path / "gadgets.py").write_text(WIDGETS)
    builtin_resources.cache_clear()
    with pytest.raises(ValueError, match=r"widgets declares Widget of group 'widgets\.example\.com' a second time"):
        builtin_resources()
    sys.modules.pop(f"{_registry.__name__}.gadgets")


def test_declarations_belong_to_kinds_that_are_served() -> None:
    """Each declared kind is in discovery, and its subresources are served there."""
    types = list(ResourceRegistry())
    kinds = {(each.group, each.kind) for each in types}
    for key, resource in builtin_resources().items():
        assert key in kinds
        served = {"", *(name for each in types if (each.group, each.kind) == key for name in each.subresources)}
        assert resource.rest.keys() <= served
