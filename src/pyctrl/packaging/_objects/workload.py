"""Namespace, Deployment, PodDisruptionBudget, metrics Service and NetworkPolicies of a program."""

from __future__ import annotations

from typing import Any

from pyctrl.packaging._objects.rbac import lease_of
from pyctrl.packaging._project import Project
from pyctrl.packaging._project_reader import MOUNTED
from pyctrl.program import certificate_secret

__all__ = [
    "apiserver_policy",
    "deployment",
    "disruption_budget",
    "metrics_policy",
    "metrics_service",
    "monitor",
    "namespace",
    "webhook_policy",
]

Object = dict[str, Any]

HEALTH, WEBHOOKS = 8081, 9443  # kubebuilder's ports
APISERVER = 6443  # the default of pyctrl.extension_apiserver, which few programs import
METRICS = {"https": 8443, "http": 8080}  # kubebuilder's ports
GRACE_SECONDS = 40  # more than the manager's grace period of 30, which is also the kubelet's default


def namespace(project: Project) -> Object:
    """Return the Namespace of the program, with the restricted Pod Security Standard enforced."""
    made = project.make("v1", "Namespace", project.namespace)
    made["metadata"]["labels"] = {**project.labels, "pod-security.kubernetes.io/enforce": "restricted"}
    return made


def deployment(project: Project) -> Object:
    """Return the Deployment, with probes, leader election or shards, and the restricted Pod Security Standard."""
    template = {
        "metadata": {
            "annotations": {"kubectl.kubernetes.io/default-container": "manager"},
            "labels": {**project.labels, **project.selector},
        },
        "spec": {
            "serviceAccountName": project.account.name,
            "terminationGracePeriodSeconds": GRACE_SECONDS,
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [_container(project)],
            "volumes": _volumes(project),
        },
    }
    made = project.make(
        "apps/v1",
        "Deployment",
        project.account.name,
        namespaced=True,
        spec={
            "replicas": project.settings.replicas,
            **({"strategy": _ONE_BY_ONE} if _has_shards(project) else {}),
            "selector": {"matchLabels": project.selector},
            "template": template,
        },
    )
    made["metadata"]["labels"] = {**project.labels, **project.selector}
    return made


#: Without a surge each object moves at most twice in an update, and no Pod waits for another one's resources.
_ONE_BY_ONE: Object = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}


def _has_shards(project: Project) -> bool:
    return project.settings.shards == "auto"


def disruption_budget(project: Project) -> Object:
    """Return the PodDisruptionBudget of replicas with shards: one leaves at a time, so the others take few objects."""
    return project.make(
        "policy/v1",
        "PodDisruptionBudget",
        project.account.name,
        namespaced=True,
        spec={"maxUnavailable": 1, "selector": {"matchLabels": project.selector}},
    )


def _container(project: Project) -> Object:
    settings = project.settings
    env = [{"name": name, "value": value} for name, value in sorted(settings.env.items())]
    return {
        "name": "manager",
        "image": settings.image,
        "args": arguments(project),
        **({"env": env} if env else {}),
        "ports": _ports(project),
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": "health"},
            "initialDelaySeconds": 15,
            "periodSeconds": 20,
        },
        "readinessProbe": {
            "httpGet": {"path": "/readyz", "port": "health"},
            "initialDelaySeconds": 5,
            "periodSeconds": 10,
        },
        "resources": {"requests": dict(settings.requests), "limits": dict(settings.limits)},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": each["name"], "mountPath": _PATHS[each["name"]]} for each in _volumes(project)],
    }


_PATHS = {"tmp": str(MOUNTED.parents[1]), "webhook-certs": str(MOUNTED)}


def arguments(project: Project) -> list[str]:
    """Return the flags of the program, as ``pyctrl run`` takes them."""
    settings = project.settings
    mode = "--shards=auto" if _has_shards(project) else "--leader-elect"
    found = [mode, f"--leader-election-id={lease_of(project)}", f"--health-probe-bind-address=:{HEALTH}"]
    address = f":{METRICS[settings.metrics]}" if settings.metrics in METRICS else "0"
    found.append(f"--metrics-bind-address={address}")
    if settings.metrics == "https":
        found.append("--metrics-secure")
    if settings.watch_namespaces:
        found.append(f"--watch-namespace={','.join(settings.watch_namespaces)}")
    if _is_mounted(project):
        found.append(f"--webhook-cert-dir={MOUNTED}")
    elif project.webhooks is not None:
        found.append(f"--webhook-service={project.webhook_service.name}")
        found.append(f"--webhook-configuration={project.webhook_configuration}")
    if project.served_kinds:
        found.append(f"--apiserver-service={project.apiserver_service.name}")
    return [*found, *settings.args]


def _is_mounted(project: Project) -> bool:
    return project.webhooks is not None and project.settings.webhook_certificates == "cert-manager"


def _ports(project: Project) -> list[Object]:
    found = [{"name": "health", "containerPort": HEALTH, "protocol": "TCP"}]
    if project.settings.metrics in METRICS:
        found.append({"name": "metrics", "containerPort": METRICS[project.settings.metrics], "protocol": "TCP"})
    if project.webhooks is not None:
        found.append({"name": "webhook-server", "containerPort": WEBHOOKS, "protocol": "TCP"})
    if project.served_kinds:
        found.append({"name": "apiserver", "containerPort": APISERVER, "protocol": "TCP"})
    return found


def _volumes(project: Project) -> list[Object]:
    """Return a writable volume for the program's own certificates, and the Secret of cert-manager's certificates."""
    found: list[Object] = [{"name": "tmp", "emptyDir": {}}]
    if _is_mounted(project):
        secret = certificate_secret(project.webhook_service).name
        found.append({"name": "webhook-certs", "secret": {"secretName": secret}})
    return found


# -- metrics ---------------------------------------------------------------------------------------------------------


def metrics_service(project: Project) -> Object:
    """Return the Service for metrics."""
    scheme = project.settings.metrics
    port = {"name": scheme, "port": METRICS[scheme], "protocol": "TCP", "targetPort": "metrics"}
    made = project.make(
        "v1",
        "Service",
        project.called("controller-manager-metrics-service"),
        namespaced=True,
        spec={"ports": [port], "selector": project.selector},
    )
    made["metadata"]["labels"] = {**project.labels, **project.selector}
    return made


def monitor(project: Project) -> Object:
    """Return the ServiceMonitor for the Prometheus operator. The metrics certificate is self-signed."""
    endpoint: Object = {"path": "/metrics", "port": project.settings.metrics, "scheme": project.settings.metrics}
    if project.settings.metrics == "https":
        token = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # the token of Prometheus' own pod
        endpoint |= {"bearerTokenFile": token, "tlsConfig": {"insecureSkipVerify": True}}
    return project.make(
        "monitoring.coreos.com/v1",
        "ServiceMonitor",
        project.called("controller-manager-metrics-monitor"),
        namespaced=True,
        spec={"endpoints": [endpoint], "selector": {"matchLabels": project.selector}},
    )


def metrics_policy(project: Project) -> Object:
    """Return the NetworkPolicy that admits scrapers from namespaces with the label ``metrics: enabled``."""
    source = {"namespaceSelector": {"matchLabels": {"metrics": "enabled"}}}
    rule = {"from": [source], "ports": [{"port": METRICS[project.settings.metrics], "protocol": "TCP"}]}
    return _policy(project, "allow-metrics-traffic", rule)


def webhook_policy(project: Project) -> Object:
    """Return the NetworkPolicy that admits webhook calls from anywhere, as API servers are not in a namespace."""
    return _policy(project, "allow-webhook-traffic", {"ports": [{"port": WEBHOOKS, "protocol": "TCP"}]})


def apiserver_policy(project: Project) -> Object:
    """Return the NetworkPolicy that admits kube-apiserver to the extension API server, from anywhere likewise."""
    return _policy(project, "allow-apiserver-traffic", {"ports": [{"port": APISERVER, "protocol": "TCP"}]})


def _policy(project: Project, name: str, rule: Object) -> Object:
    return project.make(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        project.called(name),
        namespaced=True,
        spec={"ingress": [rule], "podSelector": {"matchLabels": project.selector}, "policyTypes": ["Ingress"]},
    )
