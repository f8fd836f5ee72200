"""Configurations of admission webhooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import MetadataCheck, validate_selector
from pyctrl.apiserver._registry.admission_rules import static_suffix_warnings, validate_rule
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells
from pyctrl.apiserver._schema.defaulting import set_missing
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.apiserver._webhooks.client_config import validate_client_config, validate_review_versions

__all__ = ["RESOURCES"]

_GROUP: Final = "admissionregistration.k8s.io"


# -- webhook configurations ------------------------------------------------------------------------------------


_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_CHOICES = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
    "sideEffects": _SIDE_EFFECTS,
}
_REINVOCATION = ("IfNeeded", "Never")
_SEGMENTS = 3  # in the name of a webhook
_SECONDS = range(1, 31)  # of a webhook's timeout


def _default_webhooks(obj: Object) -> None:
    """Default to failurePolicy Fail, matchPolicy Equivalent, ten seconds, and selectors that match everything."""
    is_mutating = obj.get("kind") == "MutatingWebhookConfiguration"
    for webhook in obj.get("webhooks") or ():
        set_missing(webhook, failurePolicy="Fail", matchPolicy="Equivalent", timeoutSeconds=10)
        set_missing(webhook, namespaceSelector={}, objectSelector={})
        if is_mutating:
            set_missing(webhook, reinvocationPolicy="Never")
        for rule in webhook.get("rules") or ():
            set_missing(rule, scope="*")
        if service := webhook["clientConfig"].get("service"):
            set_missing(service, port=443)


def _validate_webhooks(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check each webhook of a configuration."""
    seen: set[str] = set()
    for index, webhook in enumerate(new.get("webhooks") or ()):
        path = f"webhooks[{index}]"
        yield from _validate_webhook(webhook, path)
        versions = webhook.get("admissionReviewVersions") or ()
        yield from validate_review_versions(
            versions, f"{path}.admissionReviewVersions", "must specify one of v1, v1beta1"
        )
        name = webhook.get("name")
        if name and name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)


def _validate_webhook(webhook: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    yield from _validate_name(webhook.get("name") or "", f"{path}.name")
    for index, rule in enumerate(webhook.get("rules") or ()):
        yield from validate_rule(rule, f"{path}.rules[{index}]")
    for field, choices in _CHOICES.items():
        value = webhook.get(field)
        if value is None and field == "sideEffects":
            yield required(f"{path}.{field}", f"must specify one of {', '.join(choices)}")
        elif value is not None and value not in choices:
            yield not_supported(f"{path}.{field}", value, choices)
    seconds = webhook["timeoutSeconds"]
    if seconds not in _SECONDS:
        yield invalid_value(f"{path}.timeoutSeconds", seconds, "the timeout value must be between 1 and 30 seconds")
    for field in ("namespaceSelector", "objectSelector"):
        yield from validate_selector(webhook.get(field) or {}, f"{path}.{field}")
    yield from validate_client_config(webhook["clientConfig"], f"{path}.clientConfig")
    if conditions := webhook.get("matchConditions"):
        from pyctrl.apiserver._admission.match_conditions import (
            validate_conditions,  # CEL is slow to import
        )

        yield from validate_conditions(conditions, f"{path}.matchConditions")
    again = webhook.get("reinvocationPolicy")
    if again is not None and again not in _REINVOCATION:
        yield not_supported(f"{path}.reinvocationPolicy", again, _REINVOCATION)


def _validate_name(name: str, path: str) -> Iterator[FieldError]:
    if not name:
        yield required(path)
    elif complaints := names.subdomain(name):
        yield invalid_value(path, name, ".".join(complaints))
    elif name.count(".") < _SEGMENTS - 1:
        yield invalid_value(path, name, "should be a domain with at least three segments separated by dots")


def _webhooks_cells(obj: Object) -> Cells:
    return {"Webhooks": len(obj.get("webhooks") or ())}


_WEBHOOKS: Final = Strategy(
    has_generation=True,
    on_create=MetadataCheck.PLAIN_WHOLE,
    on_update=(MetadataCheck.PLAIN_WHOLE,),
    warns=static_suffix_warnings,
    allows_unconditional_update=False,
    defaults=(_default_webhooks,),
    validates=(_validate_webhooks,),
)


RESOURCES: Final = (
    BuiltinResource(group=_GROUP, kind="ValidatingWebhookConfiguration", strategy=_WEBHOOKS, cells=_webhooks_cells),
    BuiltinResource(group=_GROUP, kind="MutatingWebhookConfiguration", strategy=_WEBHOOKS, cells=_webhooks_cells),
)
