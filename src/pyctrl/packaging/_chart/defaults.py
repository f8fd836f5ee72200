"""The values of a chart, with defaults from the settings of the program."""

from __future__ import annotations

from typing import Any

from pyctrl.packaging._chart.values import Section, Value, Values
from pyctrl.packaging._project import Project
from pyctrl.packaging._settings import Settings

__all__ = ["values_of"]

Object = dict[str, Any]

_TEXT: Object = {"type": "string"}
_SWITCH: Object = {"type": "boolean"}
_OBJECT: Object = {"type": "object"}
_OBJECTS: Object = {"type": "array", "items": {"type": "object"}}
_TEXTS: Object = {"type": "object", "additionalProperties": {"type": "string"}}
_QUANTITIES: Object = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
_NAMES: Object = {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True}
_ARGUMENTS: Object = {"type": "array", "items": {"type": "string"}}
_NAMED: Object = {"type": "array", "items": {"type": "object", "required": ["name"]}}

_POLICY = "Only admit webhook calls, and metrics scrapers in namespaces with the label metrics: enabled."


def values_of(project: Project, repository: str, digest: str) -> Values:
    """Return the values of a chart that apply to this program."""
    settings = project.settings
    webhook = (_webhook(settings),) if project.webhooks is not None else ()
    return (
        *_names(),
        _image(repository, digest),
        *_program(settings),
        _account(),
        _rbac(),
        *((_definitions(),) if project.definitions else ()),
        *_metrics(settings),
        *webhook,
        *_pod(project),
    )


def _names() -> Values:
    return (
        Value("nameOverride", "", "Replaces the name of the chart in labels and object names.", _TEXT),
        Value("fullnameOverride", "", "Replaces the prefix of object names. Defaults to RELEASE-NAME.", _TEXT),
    )


def _image(repository: str, digest: str) -> Section:
    policy = {"enum": ["", "Always", "IfNotPresent", "Never"]}
    return Section(
        "image",
        (
            Value("repository", repository, "", {"type": "string", "minLength": 1}),
            Value("tag", "", "Defaults to the appVersion of the chart.", _TEXT),
            Value(
                "digest",
                digest,
                "Such as sha256:…; if set, the tag is ignored.",
                {**_TEXT, "pattern": "^(sha256:[0-9a-f]{64})?$"},
            ),
            Value(
                "pullPolicy", "", "Defaults to Always for the tag latest, and to IfNotPresent for any other.", policy
            ),
        ),
        "The container image.",
    )


def _program(settings: Settings) -> Values:
    env = [{"name": name, "value": value} for name, value in sorted(settings.env.items())]
    resources = {"requests": dict(settings.requests), "limits": dict(settings.limits)}
    parts = {"requests": _QUANTITIES, "limits": _QUANTITIES, "claims": _OBJECTS}
    return (
        Value("imagePullSecrets", [], "Pull secrets, such as: - name: registry", _NAMED),
        Value(
            "replicas",
            settings.replicas,
            "The number of replicas. One is active at a time, or all with sharding.",
            {"type": "integer", "minimum": 0},
        ),
        Section(
            "sharding",
            (
                Value(
                    "enabled",
                    settings.shards == "auto",
                    "All replicas are active, and not one of them.",
                    _SWITCH,
                ),
            ),
            "Replicas divide the objects among themselves. Drains and updates take one at a time.",
        ),
        Value("args", list(settings.args), "Additional flags for the program.", _ARGUMENTS),
        Value("env", env, "Environment variables: each with name, and value or valueFrom.", _NAMED),
        Value(
            "resources",
            resources,
            "No CPU limit by default: it would slow down the start.",
            {"type": "object", "properties": parts, "additionalProperties": False},
        ),
        Value(
            "watchNamespaces",
            list(settings.watch_namespaces),
            "Watch only these namespaces, with permissions only there. Defaults to all.",
            _NAMES,
        ),
    )


def _account() -> Section:
    return Section(
        "serviceAccount",
        (
            Value("create", True, "Create the service account.", _SWITCH),
            Value("name", "", "Defaults to RELEASE-NAME-controller-manager or, if not created, to default.", _TEXT),
            Value("annotations", {}, "For example, for a cloud identity.", _TEXTS),
        ),
        "The service account of the program.",
    )


def _rbac() -> Section:
    return Section(
        "rbac",
        (
            Value("create", True, "Create them. If false, grant the permissions yourself.", _SWITCH),
            Value("helpers", True, "Also create admin, editor and viewer roles for the users of each kind.", _SWITCH),
        ),
        "Roles and bindings.",
    )


def _definitions() -> Section:
    return Section(
        "crds",
        (
            Value("enabled", True, "Install them. If false, they have to exist.", _SWITCH),
            Value(
                "keep",
                True,
                "Keep them on uninstall. If false, all objects of these kinds are deleted with them.",
                _SWITCH,
            ),
        ),
        "CustomResourceDefinitions. They are templates, so helm upgrade updates them.",
    )


def _metrics(settings: Settings) -> Values:
    return (
        Section(
            "metrics",
            (
                Value("enabled", settings.metrics != "off", "Serve /metrics.", _SWITCH),
                Value("secure", settings.metrics != "http", "Serve over TLS, to authorized users only.", _SWITCH),
            ),
            "Metrics, on port 8443, or 8080 if not secure.",
        ),
        Section(
            "prometheus",
            (Value("enabled", settings.prometheus, "Add a ServiceMonitor for the Prometheus operator.", _SWITCH),),
        ),
        Section(
            "networkPolicy",
            (Value("enabled", settings.network_policy, _POLICY, _SWITCH),),
        ),
    )


def _webhook(settings: Settings) -> Section:
    description = "The issuer: managed for the program itself, or cert-manager, which has to be installed."
    choices = {"enum": ["managed", "cert-manager"]}
    return Section("webhook", (Value("certificates", settings.webhook_certificates, description, choices),))


def _pod(project: Project) -> Values:
    from pyctrl.packaging._objects.workload import deployment

    pod = deployment(project)["spec"]["template"]["spec"]
    return (
        Value("podAnnotations", {}, "", _TEXTS),
        Value("podLabels", {}, "", _TEXTS),
        Value("podSecurityContext", pod["securityContext"], "The security context of the pod.", _OBJECT),
        Value(
            "securityContext",
            pod["containers"][0]["securityContext"],
            "The security context of the container.",
            _OBJECT,
        ),
        Value("nodeSelector", {}, "", _TEXTS),
        Value("tolerations", [], "", _OBJECTS),
        Value("affinity", {}, "", _OBJECT),
        Value("topologySpreadConstraints", [], "", _OBJECTS),
        Value("priorityClassName", "", "", _TEXT),
        Value("volumes", [], "Additional volumes for the pod.", _NAMED),
        Value("volumeMounts", [], "Additional volume mounts for the container.", _NAMED),
    )
