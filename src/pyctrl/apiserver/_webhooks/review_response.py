"""Decoder of the reviews that webhooks return, for admission and conversion, as in kube-apiserver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyctrl.apiserver._schema.schema import SchemaNode
from pyctrl.apiserver._schema.typed import DecodeFailed, decode
from pyctrl.apiserver._serializer.decoding import json_kind

__all__ = ["InvalidReviewBody", "decode_review"]


_SCHEME = "pkg/runtime/scheme.go:111"  # the name of the scheme in kube-apiserver's errors
_TYPE_META = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'


class InvalidReviewBody(Exception):
    """Raised for a response that is not a review of the expected kind. The text is kube-apiserver's."""


def decode_review(
    answer: Any, node: SchemaNode, kind: str, group: str, version: str, versions: Sequence[str]
) -> dict[str, Any]:
    """Decode a response as the Go type `node`. Its kind and apiVersion must match if they are set.

    Raises:
        InvalidReviewBody: It is not a review of this kind and version.
    """
    if not isinstance(answer, dict):
        why = f"json: cannot unmarshal {json_kind(answer)} into Go value of type {_TYPE_META}"
        raise InvalidReviewBody(f"couldn't get version/kind; json parse error: {why}")
    found, group_version = answer.get("kind") or "", answer.get("apiVersion") or ""
    found_group, _, found_version = str(group_version).rpartition("/")
    is_known = found in ("", kind) and found_group in ("", group) and found_version in ("", *versions)
    if not is_known:
        raise InvalidReviewBody(f'no kind "{found}" is registered for version "{group_version}" in scheme "{_SCHEME}"')
    if found_version and found_version != version:
        raise InvalidReviewBody(f"converting ({found_version}.{kind}) to ({version}.{kind}): unknown conversion")
    try:
        read: dict[str, Any] = decode(node, answer, [])
    except DecodeFailed as failed:
        raise InvalidReviewBody(str(failed)) from None
    return read
