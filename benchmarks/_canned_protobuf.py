"""Pods as protobuf, as kube-apiserver sends built-in kinds to clients that accept it, such as Go's.

The bytes are built from the same objects as the JSON and equal those that Go writes. The encoders are hand-written for
the fields of these pods and for the fields that Kubernetes writes even when empty; the numbers are those of the
`generated.proto` files of k8s.io/api and k8s.io/apimachinery.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from _prepared_server import encoded

Encoder = Callable[[int, Any], bytes]
"""Takes the number of a field and its value, None when there is none, and returns the field's bytes."""

MAGIC = b"k8s\x00"


def varint(value: int) -> bytes:
    """Encode a number as a varint, seven bits per byte."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def delimited(number: int, data: bytes) -> bytes:
    """Encode a length-delimited field."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def text(number: int, value: str | None) -> bytes:
    """Encode a string, also an empty one."""
    return delimited(number, (value or "").encode())


def integer(number: int, value: int | None) -> bytes:
    """Encode a non-negative number or a boolean."""
    return varint(number << 3) + varint(int(value or 0))


def fields_v1(number: int, value: Any) -> bytes:
    """Encode managed fields: JSON in protobuf."""
    return delimited(number, delimited(1, encoded(value)))


def time(number: int, value: str | None) -> bytes:
    """Encode a time; None becomes an empty message."""
    if not value:
        return delimited(number, b"")
    return delimited(number, integer(1, int(datetime.fromisoformat(value).timestamp())) + integer(2, 0))


def many(encoder: Encoder) -> Encoder:
    """Encode a list as a field for each item."""
    return lambda number, value: b"".join(encoder(number, item) for item in value or ())


def mapping(encoder: Encoder) -> Encoder:
    """Encode a map with string keys, in the order of the keys."""

    def entries(number: int, value: Mapping[str, Any] | None) -> bytes:
        items = sorted((value or {}).items())
        return b"".join(delimited(number, text(1, key) + encoder(2, item)) for key, item in items)

    return entries


def optional(encoder: Encoder) -> Encoder:
    """Encode a value, or nothing if there is none."""
    return lambda number, value: b"" if value is None else encoder(number, value)


def message(**fields: tuple[int, Encoder]) -> Encoder:
    """Encode an object by the numbers of its fields. Raises KeyError for an unknown field."""
    order = sorted(fields.items(), key=lambda field: field[1][0])

    def encode(number: int, value: Mapping[str, Any] | None) -> bytes:
        value = value or {}
        if unknown := value.keys() - fields.keys():
            raise KeyError(f"no number is known for {unknown}")
        return delimited(number, b"".join(encoder(n, value.get(name)) for name, (n, encoder) in order))

    return encode


OBJECT_META = message(
    name=(1, text),
    generateName=(2, text),
    namespace=(3, text),
    selfLink=(4, text),
    uid=(5, text),
    resourceVersion=(6, text),
    generation=(7, integer),
    creationTimestamp=(8, time),
    labels=(11, mapping(text)),
    annotations=(12, mapping(text)),
    ownerReferences=(
        13,
        many(
            message(
                kind=(1, text),
                name=(3, text),
                uid=(4, text),
                apiVersion=(5, text),
                controller=(6, optional(integer)),
                blockOwnerDeletion=(7, optional(integer)),
            )
        ),
    ),
    managedFields=(
        17,
        many(
            message(
                manager=(1, text),
                operation=(2, text),
                apiVersion=(3, text),
                time=(4, optional(time)),
                fieldsType=(6, text),
                fieldsV1=(7, optional(fields_v1)),
                subresource=(8, text),
            )
        ),
    ),
)
QUANTITY = message(string=(1, text))


def quantity(number: int, value: str) -> bytes:
    """Encode a quantity, which must be in canonical form."""
    return QUANTITY(number, {"string": value})


CONTAINER = message(
    name=(1, text),
    image=(2, text),
    workingDir=(5, text),
    ports=(
        6,
        many(
            message(
                name=(1, text),
                hostPort=(2, integer),
                containerPort=(3, integer),
                protocol=(4, text),
                hostIP=(5, text),
            )
        ),
    ),
    env=(7, many(message(name=(1, text), value=(2, text)))),
    resources=(8, message(limits=(1, mapping(quantity)), requests=(2, mapping(quantity)))),
    terminationMessagePath=(13, text),
    imagePullPolicy=(14, text),
    stdin=(16, integer),
    stdinOnce=(17, integer),
    tty=(18, integer),
    terminationMessagePolicy=(20, text),
)
POD_SPEC = message(
    containers=(2, many(CONTAINER)),
    restartPolicy=(3, text),
    dnsPolicy=(6, text),
    serviceAccountName=(8, text),
    serviceAccount=(9, text),
    nodeName=(10, text),
    hostNetwork=(11, integer),
    hostPID=(12, integer),
    hostIPC=(13, integer),
    hostname=(16, text),
    subdomain=(17, text),
    schedulerName=(19, text),
    priorityClassName=(24, text),
)
POD_STATUS = message(
    phase=(1, text),
    conditions=(
        2,
        many(
            message(
                type=(1, text),
                status=(2, text),
                lastProbeTime=(3, time),
                lastTransitionTime=(4, time),
                reason=(5, text),
                message=(6, text),
                observedGeneration=(7, integer),
            )
        ),
    ),
    message=(3, text),
    reason=(4, text),
    hostIP=(5, text),
    podIP=(6, text),
    startTime=(7, optional(time)),
    qosClass=(9, text),
    nominatedNodeName=(11, text),
    resize=(14, text),
    observedGeneration=(17, integer),
)
LIST_META = message(
    selfLink=(1, text),
    resourceVersion=(2, text),
    **{"continue": (3, text)},
    remainingItemCount=(4, optional(integer)),
)
TYPE_META = message(apiVersion=(1, text), kind=(2, text))


def pod(data: bytes) -> bytes:
    """Encode a pod from JSON without its kind."""
    document = json.loads(data)
    parts = ((1, OBJECT_META, "metadata"), (2, POD_SPEC, "spec"), (3, POD_STATUS, "status"))
    return b"".join(encode(number, document.get(name)) for number, encode, name in parts)


def status(document: Mapping[str, Any]) -> bytes:
    """Encode a Status."""
    words = b"".join(text(number, document[name]) for number, name in ((2, "status"), (3, "message"), (4, "reason")))
    return LIST_META(1, document["metadata"]) + words + integer(6, document["code"])


def known(api_version: str, kind: str, raw: bytes) -> bytes:
    """Wrap an object and its kind in `runtime.Unknown`."""
    head = TYPE_META(1, {"apiVersion": api_version, "kind": kind})
    return MAGIC + head + delimited(2, raw) + text(3, "") + text(4, "")
