"""Random objects as operators apply them, and changes by other clients in between."""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import strategies as st

Document: TypeAlias = dict[str, Any]

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.demo.test"},
    "spec": {
        "group": "demo.test",
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "default": 3},
                                    "amount": {"x-kubernetes-int-or-string": True},
                                    "parts": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["port", "protocol"],
                                        "items": {
                                            "type": "object",
                                            "required": ["port"],
                                            "properties": {
                                                "port": {"type": "integer"},
                                                "protocol": {"type": "string", "default": "TCP"},
                                                "note": {"type": "string"},
                                            },
                                        },
                                    },
                                    "tags": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "set",
                                        "items": {"type": "string"},
                                    },
                                    "steps": {"type": "array", "items": {"type": "string"}},
                                    "choice": {
                                        "type": "object",
                                        "x-kubernetes-map-type": "atomic",
                                        "additionalProperties": {"type": "string"},
                                    },
                                    "free": {"type": "object", "additionalProperties": {"type": "string"}},
                                },
                            },
                            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                        },
                    }
                },
            }
        ],
    },
}

TEXT = st.sampled_from(["", "a", "b"])
TEXTS = st.dictionaries(st.sampled_from("xyz"), TEXT, max_size=2)
PROTOCOLS = st.sampled_from([None, "TCP", "UDP"])


def _some(values: Document, *optional: str) -> Document:
    return {name: value for name, value in values.items() if value is not None or name not in optional}


def _fields(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Document]:
    """Return mappings with some of these fields."""
    return st.fixed_dictionaries({}, optional=strategies)


def _numbered(key: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Document]]:
    """Return lists of items with a unique port, an optional protocol, and other fields."""
    item = st.builds(
        lambda port, protocol, rest: _some({key: port, "protocol": protocol, **rest}, "protocol"),
        st.sampled_from([53, 80]),
        PROTOCOLS,
        _fields(**fields),
    )
    return st.lists(item, max_size=3, unique_by=lambda each: (each[key], each.get("protocol") or "TCP"))


def _named(names: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Document]]:
    item = st.builds(lambda name, rest: {"name": name, **rest}, st.sampled_from(names), _fields(**fields))
    return st.lists(item, max_size=2, unique_by=lambda each: str(each["name"]))


METADATA = _fields(labels=TEXTS, annotations=TEXTS, finalizers=st.permutations(["demo.test/a", "demo.test/b"]))
QUANTITIES = _fields(cpu=st.sampled_from(["1", "1000m", 1, "500m"]), memory=st.sampled_from(["1Gi", "1024Mi"]))
FIELD_REF = st.just({"fieldRef": {"fieldPath": "metadata.name"}})
ENV = st.one_of(_named("AB", value=TEXT), _named("AB", valueFrom=FIELD_REF))
CONTAINER = _fields(
    args=st.lists(TEXT, max_size=2),
    env=ENV,
    ports=_numbered("containerPort", name=st.just("web")).filter(lambda ports: sum("name" in p for p in ports) < 2),
    resources=_fields(requests=QUANTITIES),
    securityContext=st.sampled_from([{}, {"runAsNonRoot": True}, {"privileged": False}]),
    readinessProbe=st.sampled_from([{"httpGet": {"port": 80}}, {"httpGet": {"port": "80"}, "periodSeconds": 10}]),
)
CONTAINERS = st.builds(
    lambda order, rest: [{"name": name, "image": "i", **rest} for name in order],
    st.sampled_from(["a", "ab", "ba", "b"]),
    CONTAINER,
)
POD = st.builds(
    lambda containers, rest: {"containers": containers, **rest},
    CONTAINERS,
    _fields(
        restartPolicy=st.just("Always"),
        volumes=st.sampled_from([[], [{"name": "v", "emptyDir": {}}], [{"name": "v", "emptyDir": {"sizeLimit": "1"}}]]),
        tolerations=st.sampled_from([[], [{"key": "a", "operator": "Exists"}]]),
        nodeSelector=TEXTS,
    ),
)
DEPLOYMENT_SPEC = st.builds(
    lambda pod, rest: {
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"metadata": {"labels": {"app": "a"}}, "spec": pod},
        **rest,
    },
    POD,
    _fields(
        replicas=st.sampled_from([0, 1, 2]),
        paused=st.booleans(),
        strategy=st.sampled_from([{}, {"type": "RollingUpdate"}, {"rollingUpdate": {"maxSurge": "25%"}}]),
    ),
)
SERVICE_SPEC = st.builds(
    lambda ports, rest: {
        "ports": [{"name": f"p{place}", **each} for place, each in enumerate(ports)] or [{"port": 1}],
        **rest,
    },
    _numbered("port", targetPort=st.sampled_from([80, "80", "web"])),
    _fields(selector=TEXTS, type=st.just("ClusterIP"), sessionAffinity=st.just("None")),
)
GADGET_SPEC = _fields(
    size=st.sampled_from([0, 3, 4]),
    amount=st.sampled_from(["1", "1000m", 1]),
    parts=_numbered("port", note=TEXT),
    tags=st.lists(st.sampled_from("abc"), unique=True, max_size=3),
    steps=st.lists(TEXT, max_size=2),
    choice=TEXTS,
    free=TEXTS,
)


def _object(api_version: str, kind: str, content: st.SearchStrategy[Document]) -> st.SearchStrategy[Document]:
    return st.builds(
        lambda metadata, rest: {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {**metadata, "name": "a", "namespace": "default"},
            **rest,
        },
        METADATA,
        content,
    )


def _spec(spec: st.SearchStrategy[Document]) -> st.SearchStrategy[Document]:
    return st.builds(lambda each: {"spec": each}, spec)


KINDS = {
    "ConfigMap": _object("v1", "ConfigMap", _fields(data=TEXTS, immutable=st.just(False))),
    "Service": _object("v1", "Service", _spec(SERVICE_SPEC)),
    "Deployment": _object("apps/v1", "Deployment", _spec(DEPLOYMENT_SPEC)),
    "Gadget": _object("demo.test/v1", "Gadget", _spec(GADGET_SPEC)),
}

#: What another client may write in between: nothing, labels, or the fields of another object of the kind.
MEDDLING = st.one_of(
    st.none(),
    st.builds(lambda labels: ("patch", labels), st.dictionaries(st.sampled_from("xyz"), st.none() | TEXT, max_size=2)),
    st.sampled_from([("apply", False), ("apply", True)]),
)
