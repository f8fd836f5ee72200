"""The schema of a ClusterServiceVersion, ``operators.coreos.com/v1alpha1``."""

from __future__ import annotations

from typing import Any

from pyctrl.packaging._bundle.cluster_service_version import KIND

__all__ = ["definition"]

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "integer", "format": "int32"}
ANY: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
TEXTS: Schema = {"type": "array", "items": TEXT}
MAP: Schema = {"type": "object", "additionalProperties": TEXT}


def _object(*required: str, **fields: Schema) -> Schema:
    """Return the schema of an object. In field names, a trailing ``_`` is dropped and ``__`` stands for ``-``."""
    known = {name.rstrip("_").replace("__", "-"): schema for name, schema in fields.items()}
    return {"type": "object", "properties": known, **({"required": list(required)} if required else {})}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _descriptions(**further: Schema) -> Schema:
    """Return the schema of the descriptions of kinds or aggregated APIs."""
    field = _object("path", path=TEXT, displayName=TEXT, description=TEXT, x__descriptors=TEXTS, value=TEXT)
    kinds = _object(
        "name",
        "version",
        "kind",
        *(name for name in further if name == "group"),
        name=TEXT,
        version=TEXT,
        kind=TEXT,
        displayName=TEXT,
        description=TEXT,
        resources=_list(_object("name", "kind", "version", name=TEXT, kind=TEXT, version=TEXT)),
        specDescriptors=_list(field),
        statusDescriptors=_list(field),
        actionDescriptors=_list(field),
        **further,
    )
    return _object(owned=_list(kinds), required=_list(kinds))


def _permissions() -> Schema:
    rule = _object("verbs", verbs=TEXTS, apiGroups=TEXTS, resources=TEXTS, resourceNames=TEXTS, nonResourceURLs=TEXTS)
    return _list(_object("rules", "serviceAccountName", serviceAccountName=TEXT, rules=_list(rule)))


def _install() -> Schema:
    deployment = _object("name", "spec", name=TEXT, label=MAP, spec=ANY)
    spec = _object(
        "deployments",
        deployments=_list(deployment),
        permissions=_permissions(),
        clusterPermissions=_permissions(),
    )
    return _object("strategy", strategy=TEXT, spec=spec)


def _webhooks() -> Schema:
    rule = _object(apiGroups=TEXTS, apiVersions=TEXTS, operations=TEXTS, resources=TEXTS, scope=TEXT)
    types = ["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", "ConversionWebhook"]
    return _list(
        _object(
            "admissionReviewVersions",
            "generateName",
            "sideEffects",
            "type",
            generateName=TEXT,
            type={"type": "string", "enum": types},
            deploymentName=TEXT,
            containerPort={**NUMBER, "minimum": 1, "maximum": 65535},
            targetPort={"x-kubernetes-int-or-string": True},
            webhookPath=TEXT,
            rules=_list(rule),
            failurePolicy=TEXT,
            matchPolicy=TEXT,
            objectSelector=ANY,
            sideEffects=TEXT,
            timeoutSeconds=NUMBER,
            reinvocationPolicy=TEXT,
            admissionReviewVersions=TEXTS,
            conversionCRDs=TEXTS,
        )
    )


def _spec() -> Schema:
    link = _object(name=TEXT, url=TEXT)
    return _object(
        "displayName",
        "install",
        displayName=TEXT,
        description=TEXT,
        version=TEXT,
        release={"type": "string", "maxLength": 20},
        maturity=TEXT,
        minKubeVersion=TEXT,
        replaces=TEXT,
        skips=TEXTS,
        keywords=TEXTS,
        maintainers=_list(_object(name=TEXT, email=TEXT)),
        provider=link,
        links=_list(link),
        icon=_list(_object("base64data", "mediatype", base64data=TEXT, mediatype=TEXT)),
        installModes=_list(_object("supported", "type", supported=FLAG, type=TEXT)),
        install=_install(),
        customresourcedefinitions=_descriptions(),
        apiservicedefinitions=_descriptions(group=TEXT, deploymentName=TEXT, containerPort=NUMBER),
        webhookdefinitions=_webhooks(),
        nativeAPIs=_list(_object("group", "kind", "version", group=TEXT, kind=TEXT, version=TEXT)),
        relatedImages=_list(_object("image", "name", image=TEXT, name=TEXT)),
        cleanup=_object("enabled", enabled=FLAG),
        labels=MAP,
        annotations=MAP,
        selector=ANY,
    )


def definition() -> dict[str, Any]:
    """Return a CustomResourceDefinition that accepts what OLM's own accepts; it checks types and field names."""
    schema = _object("metadata", "spec", spec=_spec(), status=ANY)
    schema["properties"]["metadata"] = {"type": "object"}
    names = {"kind": KIND, "listKind": f"{KIND}List", "plural": f"{KIND.lower()}s", "singular": KIND.lower()}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.operators.coreos.com"},
        "spec": {"group": "operators.coreos.com", "names": names, "scope": "Namespaced", "versions": [version]},
    }
