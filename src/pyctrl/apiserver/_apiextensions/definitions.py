"""Strategy of CustomResourceDefinitions: defaults, validation, warnings and conditions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from pyctrl._go.text import HTML_ESCAPES
from pyctrl._validation import names
from pyctrl.apiserver._apiextensions.api_approval import approval_condition, validate_approval
from pyctrl.apiserver._apiextensions.naming import accept_names
from pyctrl.apiserver._apiextensions.root_schema import schema_as_go, validate_root
from pyctrl.apiserver._apiextensions.selectable_fields import validate_selectable_fields
from pyctrl.apiserver._apiextensions.structural import has_defaults, unknown_formats, validate_schema
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._schema.defaulting import copied, set_defaults
from pyctrl.apiserver._schema.field_paths import steps
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.apiserver._webhooks.client_config import validate_client_config, validate_review_versions

__all__ = [
    "CLEANUP_FINALIZER",
    "condition",
    "default_definition",
    "definition_warnings",
    "deletion_completed",
    "deletion_in_progress",
    "is_established",
    "mark_terminating",
    "prepare_definition",
    "updated_status",
    "validate_definition",
    "validate_definition_status",
]


CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_PER_VERSION = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
# The fields of internal types with their zeros, in Go's order.
_SCALE = {"specReplicasPath": "", "statusReplicasPath": "", "labelSelectorPath": None}
_COLUMN = {"name": "", "type": "", "format": "", "description": "", "priority": 0, "jsonPath": ""}
_SELECTED = {"jsonPath": ""}
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MISSING = (
    "missing from spec.versions; {0} was previously a storage version, and must remain in spec.versions until a "
    "storage migration ensures no data remains persisted in {0} and removes {0} from status.storedVersions"
)
MAX_WARNING_LENGTH = 256  # bytes


def default_definition(obj: dict[str, JSON]) -> None:
    """Set derived names, conversion strategy None, the port of webhooks, and the first stored version."""
    spec, status = obj["spec"], obj.get("status") or {}
    if status and not status.get("storedVersions"):
        status["storedVersions"] = [each["name"] for each in spec["versions"] or () if each.get("storage")] or None
    spec_names = spec["names"]
    kind = spec_names.get("kind", "")
    if kind:
        set_defaults(spec_names, singular=kind.lower(), listKind=f"{kind}List")
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service is not None:
        service.setdefault("port", 443)


def prepare_definition(new: dict[str, JSON], old: dict[str, JSON] | None) -> None:
    """Add the storage version to storedVersions; a new definition has no other status."""
    if old is not None and new.get("status") != old.get("status"):
        return  # a write to the status
    status = new.setdefault("status", {}) if old is not None else _no_status()
    new["status"] = status
    stored = list(status.get("storedVersions") or [])
    storage = next((each["name"] for each in new["spec"]["versions"] or () if each.get("storage")), None)
    if storage is not None and storage not in stored:
        stored.append(storage)
    status["storedVersions"] = stored or None


def _no_status() -> dict[str, JSON]:
    return {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": None}


def definition_warnings(new: dict[str, JSON]) -> Iterator[str]:
    """Yield warnings about unrecognized formats."""
    for schema in _open_api_schemas(new["spec"]["versions"] or ()):
        yield from (f'unrecognized format "{name}"' for name in unknown_formats(schema))


# -- validation ------------------------------------------------------------------------------------------------


def validate_definition(new: dict[str, JSON], old: dict[str, JSON] | None) -> Iterator[FieldError]:
    """Validate a definition, which replaces `old` on update."""
    spec, metadata = new["spec"], new["metadata"]
    name = f"{spec['names'].get('plural')}.{spec.get('group')}"
    for field in ("generateName", "name") if old is None else ():
        if metadata.get(field) and metadata.get(field) != name:
            yield invalid_value(f"metadata.{field}", metadata.get(field), 'must be spec.names.plural+"."+spec.group')
    yield from _spec(spec, _schemas(old))
    yield from _stored_versions(new["status"].get("storedVersions"), spec["versions"] or [])
    yield from validate_approval(new, old)
    if old is not None:
        yield from _immutable(spec, old)


def _schemas(old: dict[str, JSON] | None) -> dict[str, JSON]:
    """Return the schemas of a definition by their versions."""
    return {} if old is None else {each["name"]: each.get("schema") for each in old["spec"]["versions"]}


def _spec(spec: Mapping[str, JSON], stored: Mapping[str, JSON]) -> Iterator[FieldError]:
    yield from _group(spec.get("group", ""))
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        scope = spec.get("scope", "")
        yield not_supported("spec.scope", scope, ("Cluster", "Namespaced")) if scope else required("spec.scope")
    versions = spec["versions"] or []
    yield from _missing_schemas(versions)
    if spec.get("preserveUnknownFields") and any(map(has_defaults, _open_api_schemas(versions))):
        yield invalid_value("spec.preserveUnknownFields", True, "must be false in order to use defaults in the schema")
    yield from _versions(versions, is_given=spec["versions"] is not None)
    yield from _validate_names(spec["names"])
    yield from _per_version(versions, "schema", "spec.validation", partial(_schema, stored))
    yield from _per_version(versions, "subresources", "spec.subresources", _subresources)
    yield from _per_version(versions, "additionalPrinterColumns", "spec.additionalPrinterColumns", _columns)
    yield from validate_selectable_fields(versions, _common_fields(versions))
    yield from _conversion(spec["conversion"])
    if spec.get("preserveUnknownFields"):
        why = "set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        yield invalid_value("spec.preserveUnknownFields", True, f"cannot set to true, {why}")


def _group(group: str) -> Iterator[FieldError]:
    if not group:
        yield required("spec.group")
    elif errors := names.subdomain(group):
        yield invalid_value("spec.group", group, ",".join(errors))
    elif "." not in group:
        yield invalid_value("spec.group", group, "should be a domain with at least one dot")


def _missing_schemas(versions: list[dict[str, JSON]]) -> Iterator[FieldError]:
    for index, version in enumerate(versions):
        if (version.get("schema") or {}).get("openAPIV3Schema") is None:
            yield required(f"spec.versions[{index}].schema.openAPIV3Schema")


def _open_api_schemas(versions: Iterable[Mapping[str, JSON]]) -> Iterator[Mapping[str, JSON]]:
    for version in versions:
        yield (version.get("schema") or {}).get("openAPIV3Schema") or {}


def _versions(versions: list[dict[str, JSON]], *, is_given: bool) -> Iterator[FieldError]:
    shared = _common_fields(versions)
    for index, version in enumerate(versions):
        if errors := names.label_1035(version["name"]):
            yield invalid_value(f"spec.versions[{index}].name", version["name"], ",".join(errors))
        yield from _warning(version, f"spec.versions[{index}].deprecationWarning")
    if len({each["name"] for each in versions}) != len(versions):
        yield invalid_value("spec.versions", _as_go(versions, shared), "must contain unique version names")
    if sum(bool(each.get("storage")) for each in versions) != 1:
        why = "must have exactly one version marked as storage version"
        yield invalid_value("spec.versions", _as_go(versions, shared) if is_given else None, why)
    if versions and versions[0]["name"] and (errors := names.label_1035(versions[0]["name"])):
        yield invalid_value("spec.version", versions[0]["name"], ",".join(errors))


def _warning(version: Mapping[str, JSON], where: str) -> Iterator[FieldError]:
    text = version.get("deprecationWarning")
    if text is None:
        return
    if not version.get("deprecated"):
        yield invalid_value(where, text, "can only be set for deprecated versions")
        return
    if len(text.encode()) > MAX_WARNING_LENGTH:
        yield invalid_value(where, text, f"must be <= {MAX_WARNING_LENGTH} characters long")
    if not text:
        yield invalid_value(where, text, "must not be an empty string")
    index = next((index for index, each in enumerate(text) if not each.isprintable()), None)
    if index is not None:
        index = len(text[:index].encode())
        why = f"must only contain printable UTF-8 characters; non-printable character found at index {index}"
        shown = json.dumps(text, ensure_ascii=False).translate(HTML_ESCAPES)  # a pointer, which Go shows as JSON
        yield FieldError("FieldValueInvalid", f"Invalid value: {shown}: {why}", where)


def _common_fields(versions: list[dict[str, JSON]]) -> frozenset[str]:
    """Return the fields with the same value in all versions; kube-apiserver moves these to the top level."""
    return frozenset(key for key in _PER_VERSION if all(each.get(key) == versions[0].get(key) for each in versions))


def _as_go(versions: list[dict[str, JSON]], shared: frozenset[str]) -> list[dict[str, JSON]]:
    """Return versions with the field names of kube-apiserver's internal type, for errors."""
    return [
        {
            "Name": each["name"],
            "Served": each.get("served", False),
            "Storage": each.get("storage", False),
            "Deprecated": each.get("deprecated", False),
            "DeprecationWarning": each.get("deprecationWarning"),
            **{_go_name(key): None if key in shared else _value_as_go(key, each.get(key)) for key in _PER_VERSION},
        }
        for each in versions
    ]


def _go_name(key: str) -> str:
    return {"jsonPath": "JSONPath"}.get(key, key[:1].upper() + key[1:])


def _value_as_go(key: str, value: JSON) -> JSON:
    if value is None:
        return None
    if key == "schema":
        schema = value.get("openAPIV3Schema")
        return {"OpenAPIV3Schema": None if schema is None else schema_as_go(schema)}
    if key == "subresources":
        scale = value.get("scale")
        return {"Status": value.get("status"), "Scale": scale and _with_zeros(_SCALE, scale)}
    return [_with_zeros(_COLUMN if key == "additionalPrinterColumns" else _SELECTED, each) for each in value]


def _with_zeros(zeros: Mapping[str, JSON], value: Mapping[str, JSON]) -> dict[str, JSON]:
    return {_go_name(key): value.get(key, zero) for key, zero in zeros.items()}


def _per_version(versions: list[dict[str, JSON]], key: str, common: str, check: JSON) -> Iterator[FieldError]:
    """Validate a field of all versions; once, under the top-level path `common`, if they share its value."""
    if not versions:
        return
    if key in _common_fields(versions):
        if versions[0].get(key):
            yield from check(versions[0][key], common, versions[0])
        return
    for index, version in enumerate(versions):
        if version.get(key):
            yield from check(version[key], f"spec.versions[{index}].{key}", version)


def _schema(
    stored: Mapping[str, JSON], schema: Mapping[str, JSON], path: str, version: Mapping[str, JSON]
) -> Iterator[FieldError]:
    text, where = schema.get("openAPIV3Schema"), f"{path}.openAPIV3Schema"
    if text is None:
        return
    if (version.get("subresources") or {}).get("status") is not None:
        yield from validate_root(text, where)
    is_stored = stored.get(version["name"]) == schema  # its rules were accepted once, perhaps by an older server
    yield from validate_schema(text, where, limits_expressions=not is_stored)


def _subresources(found: Mapping[str, JSON], path: str, version: Mapping[str, JSON]) -> Iterator[FieldError]:
    scale = found.get("scale")
    if scale is None:
        return
    for key, roots, words in (
        ("specReplicasPath", (".spec.",), ".spec"),
        ("statusReplicasPath", (".status.",), ".status"),
        ("labelSelectorPath", (".spec.", ".status."), "either .spec or .status"),
    ):
        text = scale.get(key)
        where = f"{path}.scale.{key}"
        if not text:
            if key != "labelSelectorPath":
                yield required(where)
        elif not text.startswith("."):
            yield invalid_value(where, text, "must be a simple json path starting with .")
        elif steps(text) is None:
            yield invalid_value(where, text, "should be a valid json path")
        elif not text.startswith(roots):
            yield invalid_value(where, text, f"should be a json path under {words}")


def _columns(found: list[Mapping[str, JSON]], path: str, version: Mapping[str, JSON]) -> Iterator[FieldError]:
    for index, column in enumerate(found):
        where = f"{path}[{index}]"
        if not column.get("name"):
            yield required(f"{where}.name")
        if not column.get("type"):
            yield required(f"{where}.type", f"must be one of {','.join(_COLUMN_TYPES)}")
        elif column["type"] not in _COLUMN_TYPES:
            yield invalid_value(f"{where}.type", column["type"], f"must be one of {','.join(_COLUMN_TYPES)}")
        if column.get("format") and column["format"] not in _COLUMN_FORMATS:
            why = f"must be one of {','.join(_COLUMN_FORMATS)}"
            yield invalid_value(f"{where}.format", column["format"], why)
        if not column.get("jsonPath"):
            yield required(f"{where}.JSONPath")
        elif not column["jsonPath"].startswith("."):
            yield invalid_value(f"{where}.JSONPath", column["jsonPath"], "must be a simple json path starting with .")


def _validate_names(spec_names: Mapping[str, JSON]) -> Iterator[FieldError]:
    for key in ("plural", "singular", "kind", "listKind"):
        if not spec_names.get(key):
            yield required(f"spec.names.{key}")
    yield from _given_names(spec_names, "spec.names")


def validate_definition_status(new: Mapping[str, JSON], _old: Mapping[str, JSON] | None) -> Iterator[FieldError]:
    """Check the accepted names of a definition."""
    yield from _given_names((new.get("status") or {}).get("acceptedNames") or {}, "status.acceptedNames")


def _given_names(spec_names: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    for key in ("plural", "singular"):
        if spec_names.get(key) and (errors := names.label_1035(spec_names[key])):
            yield invalid_value(f"{path}.{key}", spec_names[key], ",".join(errors))
    for key in ("kind", "listKind"):
        if spec_names.get(key) and (errors := names.label_1035(spec_names[key].lower())):
            why = f"may have mixed case, but should otherwise match: {','.join(errors)}"
            yield invalid_value(f"{path}.{key}", spec_names[key], why)
    for key in ("shortNames", "categories"):
        for index, each in enumerate(spec_names.get(key) or ()):
            if errors := names.label_1035(each):
                yield invalid_value(f"{path}.{key}[{index}]", each, ",".join(errors))
    if spec_names.get("kind") and spec_names.get("kind") == spec_names.get("listKind"):
        yield invalid_value(f"{path}.listKind", spec_names["listKind"], "kind and listKind may not be the same")


def _conversion(conversion: Mapping[str, JSON]) -> Iterator[FieldError]:
    strategy, webhook = conversion.get("strategy"), conversion.get("webhook")
    if strategy not in ("None", "Webhook"):
        where = "spec.conversion.strategy"
        yield not_supported(where, strategy, ("None", "Webhook")) if strategy else required(where)
    path, versions = "spec.conversion.webhookClientConfig", "spec.conversion.conversionReviewVersions"
    if strategy != "Webhook":
        why = "should not be set when strategy is not set to Webhook"
        if (webhook or {}).get("clientConfig"):
            yield field_forbidden(path, why)
        if (webhook or {}).get("conversionReviewVersions"):
            yield field_forbidden(versions, why)
        return
    config = (webhook or {}).get("clientConfig")
    if config is None:
        yield required(path, "required when strategy is set to Webhook")
    else:
        yield from validate_client_config(config, path)
    yield from validate_review_versions((webhook or {}).get("conversionReviewVersions") or (), versions)


def _stored_versions(stored: list[str] | None, versions: list[dict[str, JSON]]) -> Iterator[FieldError]:
    where = "status.storedVersions"
    if not stored:
        yield invalid_value(where, stored, "must have at least one stored version")
        return
    missing = {name: index for index, name in enumerate(stored)}
    for each in versions:
        is_stored = missing.pop(each["name"], None) is not None
        if each.get("storage") and not is_stored:
            yield invalid_value(where, stored, f"must have the storage version {each['name']}")
    for name, index in missing.items():
        yield invalid_value(f"{where}[{index}]", name, _MISSING.format(name))


def _immutable(spec: Mapping[str, JSON], old: Mapping[str, JSON]) -> Iterator[FieldError]:
    before = old["spec"]
    fields = [("spec.group", spec.get("group"), before.get("group"))]
    fields.append(("spec.names.plural", spec["names"].get("plural"), before["names"].get("plural")))
    if is_established(old):
        fields.append(("spec.scope", spec.get("scope"), before.get("scope")))
        fields.append(("spec.names.kind", spec["names"].get("kind"), before["names"].get("kind")))
    for where, now, then in fields:
        if now != then:
            yield invalid_value(where, now, "field is immutable")


# -- conditions ------------------------------------------------------------------------------------------------


def condition(definition: Mapping[str, JSON], kind: str) -> Mapping[str, JSON]:
    """Return a condition of a definition; {} without one of this type."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == kind), {})


def is_established(definition: Mapping[str, JSON]) -> bool:
    """Return whether the definition is established: its resources are served."""
    return condition(definition, "Established").get("status") == "True"


def updated_status(definition: Mapping[str, JSON], others: Iterable[Mapping[str, JSON]]) -> dict[str, JSON] | None:
    """Return the definition with its status: accepted names and conditions; None if the status is unchanged.

    The caller writes the result to the status and serves its types (`ServedResources.replace`) if it is established.

    Args:
        others: The accepted names of the other definitions of the group.
    """
    new: dict[str, JSON] = copied(definition)
    status = new["status"]
    names, accepted = accept_names(definition["spec"]["names"], status.get("acceptedNames") or {}, others)
    status["acceptedNames"] = copied(names)
    _set_condition(status, "NamesAccepted", *accepted)
    if not is_established(definition):
        _set_condition(status, "Established", *(_ESTABLISHED if accepted[0] == "True" else _NOT_ESTABLISHED))
    if approval := approval_condition(definition):
        _set_condition(status, "KubernetesAPIApprovalPolicyConformant", *approval)
    return new if status != definition["status"] else None


_ESTABLISHED = "True", "InitialNamesAccepted", "the initial names have been accepted"
_NOT_ESTABLISHED = "False", "NotAccepted", "not all names are accepted"


def mark_terminating(definition: dict[str, JSON]) -> None:
    """Add the cleanup finalizer and the condition Terminating to a deleted definition, in place."""
    finalizers = definition["metadata"].setdefault("finalizers", [])
    if CLEANUP_FINALIZER not in finalizers:
        finalizers.append(CLEANUP_FINALIZER)
    message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    _set_condition(definition["status"], "Terminating", "True", "InstanceDeletionPending", message)


def deletion_in_progress(definition: dict[str, JSON]) -> dict[str, JSON] | None:
    """Return a deleted definition whose objects are being deleted; None if its condition says so already."""
    found = condition(definition, "Terminating") or {}
    if found.get("reason") == "InstanceDeletionInProgress":
        return None
    changed: dict[str, JSON] = copied(definition)
    message = "CustomResource deletion is in progress"
    _set_condition(changed["status"], "Terminating", "True", "InstanceDeletionInProgress", message)
    return changed


def deletion_completed(definition: dict[str, JSON]) -> None:
    """Change the condition Terminating of a deleted definition without objects, in place."""
    reason, message = "InstanceDeletionCompleted", "removed all instances"
    if not is_established(definition):
        reason, message = "NeverEstablished", "resource was never established"
    _set_condition(definition["status"], "Terminating", "False", reason, message)


def _set_condition(status: dict[str, JSON], kind: str, value: str, reason: str, message: str) -> None:
    conditions = [dict(each) for each in status.get("conditions") or ()]
    now = {"type": kind, "status": value, "lastTransitionTime": timestamp(), "reason": reason, "message": message}
    for index, each in enumerate(conditions):
        if each["type"] == kind:
            if each["status"] == value:
                now["lastTransitionTime"] = each["lastTransitionTime"]
            conditions[index] = now
            break
    else:
        conditions.append(now)
    status["conditions"] = conditions
