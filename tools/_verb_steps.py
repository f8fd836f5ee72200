"""Requests of every verb for one kind, as the steps of a scenario of `tests/conformance`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, TypeAlias

JSON: TypeAlias = Any
Steps: TypeAlias = Iterator[JSON]

MERGE, STRATEGIC, PATCH = (
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
)
APPLY, YAML = "application/apply-patch+yaml", "application/yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
FINALIZER = "verbs.example.com/hold"
OTHER_UID = "11111111-2222-3333-4444-555555555555"
SELECTED: Mapping[str, JSON] = {"labelSelector": "verbs=yes"}  # of every object of the scenario, and no other


class Subject(NamedTuple):
    """A kind, with the bodies of objects that a scenario creates."""

    collection: str
    everywhere: str  # the collection of all namespaces
    namespace: str
    bodies: tuple[JSON, ...]  # of different objects

    @property
    def path(self) -> str:
        """The path of the first object."""
        return self.path_of(0)

    def path_of(self, index: int) -> str:
        """Return the path of an object."""
        return f"{self.collection}/{self.bodies[index]['metadata']['name']}"

    def body(self, index: int = 0, **metadata: JSON) -> JSON:
        """Return the body of an object with other metadata; None removes a member."""
        body = deepcopy(self.bodies[index])
        body["metadata"] |= metadata
        body["metadata"] = {key: value for key, value in body["metadata"].items() if value is not None}
        return body

    @property
    def is_dry(self) -> dict[str, str]:
        """The query of a dry run."""
        return {"dryRun": "All"}


def steps_of(subject: Subject, subresources: frozenset[str]) -> Steps:
    """Yield the steps of a scenario, in the order in which they must run."""
    yield from _refused_creates(subject)
    yield from _creates(subject)
    yield from _reads(subject)
    yield from _lists(subject)
    yield from _patches(subject)
    yield from _applies(subject)
    yield from _updates(subject)
    for each in sorted(subresources & {"status", "scale"}):
        yield from _subresource(subject, each)
    yield from _watches(subject)
    yield from _finalizers(subject)
    yield from _deletes(subject)
    yield from _collection_deletes(subject)


def _step(name: str, method: str, path: str, body: JSON = None, media: str = "", **more: JSON) -> JSON:
    """Return a step with a request; `accept` is a media type, and the others form the query."""
    headers = {"Content-Type": media} if media else {}
    if accept := more.pop("accept", ""):
        headers["Accept"] = accept
    request = {"method": method, "path": path, "query": more, "headers": headers}
    if body is not None:
        request["body"] = body
    return {"id": name, "request": request, "refused": True}


def _refused_creates(subject: Subject) -> Steps:
    where, body, dry = subject.collection, subject.body(), subject.is_dry
    yield _step("create-empty", "POST", where, "")
    yield _step("create-no-json", "POST", where, "{")
    yield _step("create-array", "POST", where, [])
    yield _step("create-unknown-media-type", "POST", where, "x", "text/plain")
    yield _step("create-other-kind", "POST", where, {**body, "kind": "Other"})
    yield _step("create-no-kind", "POST", where, {key: each for key, each in body.items() if key != "kind"}, **dry)
    yield _step("create-other-group", "POST", where, {**body, "apiVersion": "other.example.com/v1"})
    yield _step(
        "create-no-version", "POST", where, {key: each for key, each in body.items() if key != "apiVersion"}, **dry
    )
    yield _step("create-no-name", "POST", where, subject.body(name=None))
    yield _step("create-wrong-name", "POST", where, subject.body(name="Wrong_Name!"))
    yield _step("create-generated", "POST", where, subject.body(name=None, generateName="made-"), **dry)
    yield _step("create-other-namespace", "POST", where, subject.body(namespace="other"), **dry)
    yield _step("create-wrong-label", "POST", where, subject.body(labels={"a b": "c d"}))
    yield _step("create-wrong-annotation", "POST", where, subject.body(annotations={"a b": "c"}))
    yield _step("create-wrong-finalizer", "POST", where, subject.body(finalizers=["wrong finalizer"]))
    yield _step("create-short-finalizer", "POST", where, subject.body(finalizers=["short"]), **dry)
    yield _step("create-wrong-owner", "POST", where, subject.body(ownerReferences=[{"apiVersion": "v1"}]))
    yield _step("create-with-version", "POST", where, subject.body(resourceVersion="7"), **dry)
    yield _step("create-with-uid", "POST", where, subject.body(uid=OTHER_UID), **dry)
    yield _step("create-managed", "POST", where, subject.body(managedFields=[{"manager": "m"}]), **dry)
    yield _step("create-metadata-text", "POST", where, {**body, "metadata": "text"})
    yield _step("create-wrong-dry-run", "POST", where, body, dryRun="Some")
    yield _step("create-wrong-validation", "POST", where, body, fieldValidation="Some")
    yield _step("create-long-manager", "POST", where, body, fieldManager="m" * 129)
    for mode in ("Strict", "Warn", "Ignore"):
        unknown = {**subject.body(unknown="x"), "unknown": 1}
        yield _step(f"create-unknown-{mode}", "POST", where, unknown, fieldValidation=mode, **dry)
    text = json.dumps(body)
    yield _step("create-twice-named", "POST", where, f'{{"kind":"{body["kind"]}",{text[1:]}', fieldValidation="Strict")


def _creates(subject: Subject) -> Steps:
    where = subject.collection
    yield _step("create-dry", "POST", where, subject.body(), **subject.is_dry)
    yield _step("create", "POST", where, subject.body(), fieldManager="first")
    yield _step("create-again", "POST", where, subject.body())
    yield _step("create-yaml", "POST", where, json.dumps(subject.body(1), indent=1), YAML)
    yield _step("create-as-table", "POST", where, subject.body(), accept=TABLE, **subject.is_dry)


def _reads(subject: Subject) -> Steps:
    path = subject.path
    yield _step("get", "GET", path)
    yield _step("get-missing", "GET", f"{path}-missing")
    yield _step("get-missing-subresource", "GET", f"{path}/missing")
    yield _step("get-table", "GET", path, accept=TABLE)
    yield _step("get-table-whole", "GET", path, accept=TABLE, includeObject="Object")
    yield _step("get-metadata", "GET", path, accept=PARTIAL)
    yield _step("get-list-metadata", "GET", path, accept=PARTIAL_LIST)
    yield _step("get-yaml", "GET", path, accept=YAML)
    yield _step("get-not-acceptable", "GET", path, accept="image/png")
    yield _step("get-future", "GET", path, resourceVersion="99999999999")
    yield _step("get-wrong-version", "GET", path, resourceVersion="x")


def _lists(subject: Subject) -> Steps:
    where, name = subject.collection, subject.bodies[0]["metadata"]["name"]
    yield _step("list", "GET", where, **SELECTED)
    yield _step("list-everywhere", "GET", subject.everywhere, **SELECTED)
    yield _step("list-none", "GET", where, labelSelector="verbs=no")
    yield _step("list-set", "GET", where, labelSelector="verbs in (yes, no),!other")
    yield _step("list-wrong-labels", "GET", where, labelSelector="a in (")
    yield _step("list-wrong-value", "GET", where, labelSelector="a=b c")
    yield _step("list-name", "GET", where, fieldSelector=f"metadata.name={name}")
    yield _step("list-not-name", "GET", where, fieldSelector=f"metadata.name!={name}", **SELECTED)
    yield _step("list-namespace", "GET", where, fieldSelector="metadata.namespace=other", **SELECTED)
    yield _step("list-unknown-field", "GET", where, fieldSelector="spec.unknown=x")
    yield _step("list-wrong-fields", "GET", where, fieldSelector="metadata.name")
    yield _step("list-page", "GET", where, limit="1", **SELECTED)
    more = "${list-page:/metadata/continue}"
    yield {**_step("list-next-page", "GET", where, limit="1", **SELECTED, **{"continue": more})}
    yield _step("list-wrong-page", "GET", where, limit="1", **{"continue": "x"})
    yield _step("list-wrong-limit", "GET", where, limit="x")
    yield _step("list-table", "GET", where, accept=TABLE, **SELECTED)
    yield _step("list-table-none", "GET", where, accept=TABLE, includeObject="None", **SELECTED)
    yield _step("list-metadata", "GET", where, accept=PARTIAL_LIST, **SELECTED)
    yield _step("list-cached", "GET", where, resourceVersion="0", **SELECTED)
    yield _step("list-future", "GET", where, resourceVersion="99999999999", timeoutSeconds="1")
    yield _step("list-exact-nothing", "GET", where, resourceVersionMatch="Exact")
    yield _step("list-exact-zero", "GET", where, resourceVersionMatch="Exact", resourceVersion="0")
    yield _step("list-wrong-version", "GET", where, resourceVersion="x")


def _patches(subject: Subject) -> Steps:
    path = subject.path

    def merge(name: str, body: JSON, **query: JSON) -> JSON:
        return _step(f"merge-{name}", "PATCH", path, body, MERGE, **query)

    yield merge("label", {"metadata": {"labels": {"merged": "1"}}}, fieldManager="second")
    yield merge("same", {"metadata": {"labels": {"merged": "1"}}})
    yield merge("dry", {"metadata": {"labels": {"merged": "2"}}}, **subject.is_dry)
    yield merge("empty", {})
    yield merge("array", [])
    yield merge("text", "no json")
    yield merge("other-name", {"metadata": {"name": "other"}})
    yield merge("other-kind", {"kind": "Other"})
    yield merge("other-version", {"apiVersion": "other.example.com/v1"})
    yield merge("stale", {"metadata": {"resourceVersion": "1"}})
    yield merge("other-uid", {"metadata": {"uid": OTHER_UID}})
    yield merge("no-metadata", {"metadata": None})
    yield merge("no-labels", {"metadata": {"labels": None}}, **subject.is_dry)
    yield merge("number-label", {"metadata": {"labels": {"a": 1}}})
    yield merge("wrong-label", {"metadata": {"labels": {"a": "b c"}}})
    yield merge("generation", {"metadata": {"generation": 7, "creationTimestamp": None}}, **subject.is_dry)
    yield merge("deletion", {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}}, **subject.is_dry)
    for mode in ("Strict", "Warn"):
        yield merge(f"unknown-{mode}", {"unknown": 1}, fieldValidation=mode, **subject.is_dry)
    yield merge("force", {}, force="true")
    yield _step("merge-missing", "PATCH", f"{path}-missing", {}, MERGE)
    yield _step("patch-unknown-type", "PATCH", path, {}, "application/json")
    yield from _json_patches(path)
    yield from _strategic_patches(path)


def _json_patches(path: str) -> Steps:
    for name, operations in {
        "add": [{"op": "add", "path": "/metadata/labels/added", "value": "1"}],
        "test": [{"op": "test", "path": "/metadata/labels/added", "value": "2"}],
        "replace": [{"op": "replace", "path": "/metadata/labels/added", "value": "2"}],
        "replace-missing": [{"op": "replace", "path": "/metadata/nothing/here", "value": "2"}],
        "remove": [{"op": "remove", "path": "/metadata/labels/added"}],
        "remove-missing": [{"op": "remove", "path": "/metadata/labels/added"}],
        "copy": [{"op": "copy", "from": "/metadata/labels/verbs", "path": "/metadata/labels/copied"}],
        "move": [{"op": "move", "from": "/metadata/labels/copied", "path": "/metadata/labels/moved"}],
        "unknown": [{"op": "unknown", "path": "/metadata"}],
        "no-path": [{"op": "add", "value": 1}],
        "root": [{"op": "replace", "path": "", "value": {}}],
        "nothing": [],
    }.items():
        yield _step(f"json-{name}", "PATCH", path, operations, PATCH)
    yield _step("json-object", "PATCH", path, {}, PATCH)


def _strategic_patches(path: str) -> Steps:
    for name, body in {
        "label": {"metadata": {"labels": {"strategic": "1"}}},
        "finalizers": {"metadata": {"finalizers": ["a.example.com/a"]}},
        "finalizers-removed": {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.example.com/a"]}},
        "replace": {"metadata": {"labels": {"$patch": "replace", "verbs": "yes"}}},
        "wrong-directive": {"metadata": {"labels": {"$patch": "wrong"}}},
        "unknown": {"unknown": 1},
        "text": {"metadata": {"labels": "text"}},
    }.items():
        yield _step(f"strategic-{name}", "PATCH", path, body, STRATEGIC)


def _applies(subject: Subject) -> Steps:
    path = subject.path_of(2)

    def apply(name: str, body: JSON, manager: str = "one", **query: JSON) -> JSON:
        return _step(f"apply-{name}", "PATCH", path, json.dumps(body), APPLY, fieldManager=manager, **query)

    head = {key: each for key, each in subject.body(2).items() if key in ("apiVersion", "kind")}
    named = {"name": subject.bodies[2]["metadata"]["name"], "labels": {"verbs": "yes"}}
    yield apply("dry", subject.body(2), **subject.is_dry)
    yield apply("new", subject.body(2))
    yield apply("same", subject.body(2))
    yield _step("apply-no-manager", "PATCH", path, json.dumps(subject.body(2)), APPLY)
    yield apply("label", {**head, "metadata": {**named, "labels": {"verbs": "yes", "two": "2"}}}, "two")
    yield apply("conflict", {**head, "metadata": {**named, "labels": {"verbs": "no"}}}, "two", **subject.is_dry)
    yield apply(
        "force", {**head, "metadata": {**named, "labels": {"verbs": "no"}}}, "two", force="true", **subject.is_dry
    )
    yield apply("released", {**head, "metadata": named}, "two")
    yield apply("unknown", {**subject.body(2), "unknown": 1}, **subject.is_dry)
    yield apply("unknown-strict", {**subject.body(2), "unknown": 1}, fieldValidation="Strict")
    yield apply("other-name", subject.body(2, name="other"))
    yield apply("other-kind", {**subject.body(2), "kind": "Other"})
    yield apply("no-kind", {"metadata": named})
    yield apply("managed", subject.body(2, managedFields=[{"manager": "m"}]))
    yield apply("stale", subject.body(2, resourceVersion="1"))
    yield apply("no-yaml", "{")
    yield apply("number-label", {**head, "metadata": {**named, "labels": {"verbs": 1}}})
    yield apply("null-label", {**head, "metadata": {**named, "labels": {"verbs": "yes", "a": None}}}, "three")
    yield apply("empty", {**head, "metadata": {**named, "labels": {}}}, "three")
    yield apply("fewer", {**subject.body(2), "metadata": named})
    yield _step("apply-read", "GET", path)


def _updates(subject: Subject) -> Steps:
    path, current = subject.path, "${get:/metadata/resourceVersion}"
    yield _step("put-stale", "PUT", path, subject.body(resourceVersion="1"))
    yield _step("put-old", "PUT", path, subject.body(resourceVersion=current))
    yield _step("put", "PUT", path, subject.body(), fieldManager="third")
    yield _step("put-read", "GET", path)
    current = "${put-read:/metadata/resourceVersion}"
    whole = "${put-read:}"
    yield _step("put-same", "PUT", path, whole)
    yield _step("put-current", "PUT", path, subject.body(resourceVersion=current, annotations={"put": "1"}))
    yield _step("put-dry", "PUT", path, subject.body(annotations={"put": "2"}), **subject.is_dry)
    yield _step("put-wrong-version", "PUT", path, subject.body(resourceVersion="x"))
    yield _step("put-other-uid", "PUT", path, subject.body(uid=OTHER_UID))
    yield _step("put-other-name", "PUT", path, subject.body(name="other"))
    yield _step("put-no-name", "PUT", path, subject.body(name=None))
    yield _step("put-other-namespace", "PUT", path, subject.body(namespace="other"))
    yield _step("put-created", "PUT", path, subject.body(creationTimestamp="2020-01-01T00:00:00Z"), **subject.is_dry)
    yield _step("put-wrong-label", "PUT", path, subject.body(labels={"a": "b c"}))
    yield _step("put-managed", "PUT", path, subject.body(managedFields=[]), **subject.is_dry)
    yield _step(
        "put-missing",
        "PUT",
        f"{path}-x",
        subject.body(name=f"{subject.bodies[0]['metadata']['name']}-x"),
        **subject.is_dry,
    )
    yield _step("put-collection", "PUT", subject.collection, subject.body())
    yield _step("post-object", "POST", path, subject.body())


def _subresource(subject: Subject, part: str) -> Steps:
    path = f"{subject.path}/{part}"
    yield _step(f"{part}-get", "GET", path)
    yield _step(f"{part}-put", "PUT", path, f"${{{part}-get:}}")
    yield _step(f"{part}-put-labels", "PUT", path, subject.body(labels={"a": "b"}) if part == "status" else {})
    yield _step(
        f"{part}-merge", "PATCH", path, {"metadata": {"labels": {"part": "1"}, "annotations": {"part": "1"}}}, MERGE
    )
    yield _step(f"{part}-json", "PATCH", path, [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}], PATCH)
    head = {key: each for key, each in subject.body().items() if key in ("apiVersion", "kind")}
    body = {**head, "metadata": {"name": subject.bodies[0]["metadata"]["name"]}}
    if part == "scale":
        body |= {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 2}}
    yield _step(f"{part}-apply", "PATCH", path, json.dumps(body), APPLY, fieldManager="part")
    yield _step(f"{part}-post", "POST", path, {})
    yield _step(f"{part}-delete", "DELETE", path)
    yield _step(f"{part}-missing", "GET", f"{subject.path}-missing/{part}")
    yield _step(f"{part}-table", "GET", path, accept=TABLE)


def _watches(subject: Subject) -> Steps:
    where, path = subject.collection, subject.path

    def watch(name: str, events: int, during: Sequence[JSON] = (), accept: str = "", **query: JSON) -> JSON:
        headers = {"Accept": accept} if accept else {}
        query = {"watch": "true", "timeoutSeconds": "1", **query}
        request = {"path": where, "query": query, "events": events, "timeout": 15, "headers": headers}
        return {"id": f"watch-{name}", "watch": {**request, "during": [*during]}}

    yield _step("watch-from", "GET", where, limit="1")
    since = "${watch-from:/metadata/resourceVersion}"
    label = {"op": "add", "path": "/metadata/labels/watched"}
    changes = (
        _step("watched-change", "PATCH", path, [{**label, "value": "1"}], PATCH),
        _step("watched-again", "PATCH", path, [{**label, "value": "2"}], PATCH),
        _step("watched-away", "PATCH", path, {"metadata": {"labels": {"verbs": "no"}}}, MERGE),
        _step("watched-back", "PATCH", path, {"metadata": {"labels": {"verbs": "yes"}}}, MERGE),
    )
    more = {"timeoutSeconds": "10", "allowWatchBookmarks": "true", **SELECTED}  # it ends after the fourth event
    yield watch("changes", 4, changes, resourceVersion=since, **more)
    yield watch("again", 4, resourceVersion=since, **SELECTED)
    yield watch("table", 2, resourceVersion=since, accept=TABLE, **SELECTED)
    yield watch("metadata", 2, resourceVersion=since, accept=PARTIAL, **SELECTED)
    name = subject.bodies[0]["metadata"]["name"]
    yield watch("name", 2, resourceVersion=since, fieldSelector=f"metadata.name={name}")
    yield watch("no-name", 1, resourceVersion=since, fieldSelector="metadata.name=none")
    yield watch("unknown-field", 1, fieldSelector="spec.unknown=x")
    listed: Mapping[str, JSON] = {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
    yield watch("list", 3, **listed, **SELECTED)
    yield watch("list-table", 3, accept=TABLE, **listed, **SELECTED)
    yield watch("old", 1, resourceVersion="1", **SELECTED)
    yield watch("future", 1, resourceVersion="99999999999", **SELECTED)
    yield watch("wrong-version", 1, resourceVersion="x")


def _finalizers(subject: Subject) -> Steps:
    path = subject.path_of(1)
    patch = {"metadata": {"finalizers": [FINALIZER]}}
    yield _step("finalizer-add", "PATCH", path, patch, MERGE)
    yield _step("finalizer-delete", "DELETE", path)
    yield _step("finalizer-delete-again", "DELETE", path)
    yield _step("finalizer-table", "GET", path, accept=TABLE)
    yield _step("finalizer-another", "PATCH", path, {"metadata": {"finalizers": [FINALIZER, "a.example.com/b"]}}, MERGE)
    yield _step("finalizer-label", "PATCH", path, {"metadata": {"labels": {"late": "1"}}}, MERGE)
    yield _step("finalizer-undelete", "PATCH", path, {"metadata": {"deletionTimestamp": None}}, MERGE)
    yield _step("finalizer-apply", "PATCH", path, json.dumps(subject.body(1)), APPLY, fieldManager="late", force="true")
    yield _step("finalizer-create", "POST", subject.collection, subject.body(1))
    yield _step("finalizer-remove-dry", "PATCH", path, {"metadata": {"finalizers": None}}, MERGE, **subject.is_dry)
    yield _step("finalizer-remove", "PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
    yield _step("finalizer-gone", "GET", path)


def _deletes(subject: Subject) -> Steps:
    path = subject.path
    for name, options in {
        "other-uid": {"preconditions": {"uid": OTHER_UID}},
        "other-version": {"preconditions": {"resourceVersion": "1"}},
        "wrong-policy": {"propagationPolicy": "Wrong"},
        "both-policies": {"propagationPolicy": "Orphan", "orphanDependents": True},
        "wrong-kind": {"kind": "Other", "apiVersion": "v1"},
        "unknown": {"unknown": 1},
        "text": {"gracePeriodSeconds": "x"},
        "dry": {"dryRun": ["All"]},
        "wrong-dry": {"dryRun": ["Some"]},
    }.items():
        yield _step(f"delete-{name}", "DELETE", path, options)
    yield _step("delete-no-json", "DELETE", path, "{")
    yield _step("delete-query", "DELETE", path, dryRun="All", propagationPolicy="Foreground")
    yield _step("delete-negative", "DELETE", path, {"gracePeriodSeconds": -1, "dryRun": ["All"]})
    yield _step("delete-missing", "DELETE", f"{path}-missing")
    yield _step("delete-foreground", "DELETE", path, {"propagationPolicy": "Foreground"})
    yield _step("delete-then-orphan", "DELETE", path, {"propagationPolicy": "Orphan"})
    yield _step("delete-read", "GET", path)
    yield _step("delete-free", "PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
    yield _step("delete-orphan", "DELETE", subject.path_of(2), {"propagationPolicy": "Orphan", "gracePeriodSeconds": 0})
    yield _step("delete-free-orphan", "PATCH", subject.path_of(2), {"metadata": {"finalizers": None}}, MERGE)
    yield _step("delete-again", "DELETE", subject.path_of(2))


def _collection_deletes(subject: Subject) -> Steps:
    where = subject.collection
    yield _step("collection-first", "POST", where, subject.body())
    yield _step("collection-second", "POST", where, subject.body(1))
    yield _step("collection-wrong-field", "DELETE", where, fieldSelector="spec.unknown=x")
    yield _step("collection-wrong-label", "DELETE", where, labelSelector="a in (")
    yield _step("collection-dry", "DELETE", where, **subject.is_dry, **SELECTED)
    yield _step("collection-none", "DELETE", where, labelSelector="verbs=none")
    yield _step("collection-other-uid", "DELETE", where, {"preconditions": {"uid": OTHER_UID}}, **SELECTED)
    yield _step("collection", "DELETE", where, {"gracePeriodSeconds": 0}, **SELECTED)
    yield _step("collection-list", "GET", where, **SELECTED)
    yield _step("collection-everywhere", "DELETE", subject.everywhere, labelSelector="verbs=none")
