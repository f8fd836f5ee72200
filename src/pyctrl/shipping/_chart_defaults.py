"""The values of a chart, with what they are if nobody says anything: what the settings of the program say."""

from __future__ import annotations

from typing import Any

from ._chart_values import Section, Value, Values
from ._project import Project
from ._settings import Settings

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


def values_of(project: Project, repository: str, digest: str) -> Values:
    """Return the values of a chart: those only that mean something to this program."""
    settings = project.settings
    webhook = (_webhook(settings),) if project.webhooks is not None else ()
    return (
        *_names(),
        _image(repository, digest),
        *_program(settings),
        _account(),
        _rights(),
        *((_definitions(),) if project.definitions else ()),
        *_metrics(settings),
        *webhook,
        *_pod(project),
    )


def _names() -> Values:
    return (
        Value("nameOverride", "", "What the program is called in labels; else as the chart.", _TEXT),
        Value("fullnameOverride", "", "What names of objects begin with; else RELEASE-NAME, or RELEASE.", _TEXT),
    )


def _image(repository: str, digest: str) -> Section:
    policy = {"enum": ["", "Always", "IfNotPresent", "Never"]}
    return Section(
        "image",
        (
            Value("repository", repository, "", {"type": "string", "minLength": 1}),
            Value("tag", "", "Else appVersion of the chart.", _TEXT),
            Value(
                "digest",
                digest,
                "sha256:…; the tag is not asked then.",
                {**_TEXT, "pattern": "^(sha256:[0-9a-f]{64})?$"},
            ),
            Value("pullPolicy", "", "Else Always for the tag latest, and IfNotPresent for any other.", policy),
        ),
        "What runs.",
    )


def _program(settings: Settings) -> Values:
    env = [{"name": name, "value": value} for name, value in sorted(settings.env.items())]
    resources = {"requests": dict(settings.requests), "limits": dict(settings.limits)}
    parts = {"requests": _QUANTITIES, "limits": _QUANTITIES, "claims": _OBJECTS}
    return (
        Value("imagePullSecrets", [], "Of the registry: - name: SECRET", _NAMED),
        Value("replicas", settings.replicas, "One works, the others stand by.", {"type": "integer", "minimum": 0}),
        Value("args", list(settings.args), "Flags of the program, behind those that follow from the rest.", _ARGUMENTS),
        Value("env", env, "Environment variables: - name: NAME, with value or valueFrom.", _NAMED),
        Value(
            "resources",
            resources,
            "No limit of CPU: it would make a start, which takes a second of it, a long one.",
            {"type": "object", "properties": parts, "additionalProperties": False},
        ),
        Value(
            "watchNamespaces",
            list(settings.watch_namespaces),
            "Look at these namespaces only, and have rights in these only; else at all.",
            _NAMES,
        ),
    )


def _account() -> Section:
    return Section(
        "serviceAccount",
        (
            Value("create", True, "", _SWITCH),
            Value("name", "", "Else FULLNAME-controller-manager; without create: default.", _TEXT),
            Value("annotations", {}, "For the identity that a cloud gives it.", _TEXTS),
        ),
        "What the program is to the cluster.",
    )


def _rights() -> Section:
    return Section(
        "rbac",
        (
            Value("create", True, "Else somebody else has to grant the account what the program needs.", _SWITCH),
            Value("helpers", True, "Roles for people: administrator, editor and viewer of each kind.", _SWITCH),
        ),
        "Roles, and what binds them to the account.",
    )


def _definitions() -> Section:
    return Section(
        "crds",
        (
            Value("enabled", True, "Else they have to be there.", _SWITCH),
            Value("keep", True, "When the release is uninstalled. Without, all objects of the kinds go too.", _SWITCH),
        ),
        "Definitions of the program's kinds. They are templates, so an upgrade changes them.",
    )


def _metrics(settings: Settings) -> Values:
    return (
        Section(
            "metrics",
            (
                Value("enabled", settings.metrics != "off", "", _SWITCH),
                Value(
                    "secure", settings.metrics != "http", "Over TLS, for those who may get them; else for all.", _SWITCH
                ),
            ),
            "At 8443, or 8080 if they are not secure.",
        ),
        Section(
            "prometheus",
            (Value("enabled", settings.prometheus, "", _SWITCH),),
            "A ServiceMonitor, for the Prometheus operator.",
        ),
        Section(
            "networkPolicy",
            (Value("enabled", settings.network_policy, "", _SWITCH),),
            "Let in who calls webhooks, and who scrapes metrics from a namespace labelled metrics: enabled.",
        ),
    )


def _webhook(settings: Settings) -> Section:
    told = "managed: the program makes them itself. cert-manager: it is installed, and does."
    choices = {"enum": ["managed", "cert-manager"]}
    return Section("webhook", (Value("certificates", settings.webhook_certificates, told, choices),))


def _pod(project: Project) -> Values:
    from ._workload import deployment

    pod = deployment(project)["spec"]["template"]["spec"]
    return (
        Value("podAnnotations", {}, "", _TEXTS),
        Value("podLabels", {}, "", _TEXTS),
        Value("podSecurityContext", pod["securityContext"], "", _OBJECT),
        Value("securityContext", pod["containers"][0]["securityContext"], "Of the container.", _OBJECT),
        Value("nodeSelector", {}, "", _TEXTS),
        Value("tolerations", [], "", _OBJECTS),
        Value("affinity", {}, "", _OBJECT),
        Value("topologySpreadConstraints", [], "", _OBJECTS),
        Value("priorityClassName", "", "", _TEXT),
        Value("volumes", [], "More of them.", _NAMED),
        Value("volumeMounts", [], "Where volumes are in the container.", _NAMED),
    )
