"""Conversion of objects into templates of a chart: values and the release replace settings.

The project is read with placeholders as the names that a release determines. Every name derived from them contains the
placeholder, which becomes an action in the template.
"""

from __future__ import annotations

from typing import Any

from pyctrl.packaging._chart.template import OptionalMember, Spread, TemplateExpression, Tree
from pyctrl.packaging._project import Project

__all__ = ["FULLNAME", "NAMESPACE", "WATCHED", "actions", "to_tree"]

Object = dict[str, Any]

#: Placeholders for names.
FULLNAME, NAMESPACE, WATCHED = "chart-fullname-9f3c", "chart-namespace-9f3c", "chart-watched-9f3c"

_KEEP = {"helm.sh/resource-policy": "keep"}
_ACCOUNT = f"{FULLNAME}-controller-manager"

#: Members of the pod spec that are set if their values are.
_POD = ("imagePullSecrets", "nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")


def actions(chart: str) -> dict[str, str]:
    """Return the template action for each placeholder within a text."""
    watched = 'join "," .Values.watchNamespaces'
    return {FULLNAME: f'include "{chart}.fullname" .', NAMESPACE: ".Release.Namespace", WATCHED: watched}


def to_tree(obj: Object, project: Project, chart: str, *, keep: bool) -> Tree:
    """Return an object of a project with placeholder names, as a template tree.

    Args:
        obj: the object.
        project: its project.
        chart: the name of the chart.
        keep: whether a CustomResourceDefinition is kept when the release is uninstalled.
    """
    return _TreeBuilder(project, chart, keep).object(obj)


class _TreeBuilder:
    def __init__(self, project: Project, chart: str, keep: bool) -> None:
        self._labels = project.labels
        self._selector = project.selector
        self._chart = chart
        self._keep = keep

    def object(self, obj: Object) -> Tree:
        tree = self._tree(obj)
        metadata = tree["metadata"]
        match obj["kind"]:
            case "CustomResourceDefinition" if self._keep:
                annotations = {**metadata.get("annotations", {}), **_KEEP}
                return {**tree, "metadata": {"name": metadata["name"], **metadata, "annotations": annotations}}
            case "ServiceAccount":
                open_ = {"name": self._account, "annotations": OptionalMember(".Values.serviceAccount.annotations")}
                return {**tree, "metadata": {**metadata, **open_}}
            case "Deployment":
                return {**tree, "spec": {**tree["spec"], **self._workload(tree["spec"])}}
            case "Role" | "RoleBinding" if obj["metadata"].get("namespace") == WATCHED:
                return self._watching(tree)
        return tree

    @property
    def _account(self) -> TemplateExpression:
        return TemplateExpression(f'include "{self._chart}.serviceAccountName" . | quote')

    def _tree(self, value: Any) -> Tree:
        """Replace names and labels by actions."""
        if isinstance(value, list):
            return [self._tree(each) for each in value]
        if isinstance(value, dict):
            tree = {key: self._tree(each) for key, each in self._labelled(value).items()}
            return (
                {**tree, "name": self._account} if value.get("kind") == "ServiceAccount" and "name" in value else tree
            )
        if value == NAMESPACE:
            return TemplateExpression(".Release.Namespace | quote")
        return TemplateExpression("$namespace | quote") if value == WATCHED else value

    def _labelled(self, value: Object) -> Object:
        for labels, name in ((self._labels, "labels"), (self._selector, "selectorLabels")):
            if all(value.get(key) == each for key, each in labels.items()):
                rest = {key: each for key, each in value.items() if key not in self._labels}
                spread: dict[Any, Any] = {Spread(f'include "{self._chart}.{name}" .'): None}
                return spread | rest
        return value

    def _watching(self, tree: Object) -> Object:
        """Rename the roles in watched namespaces: the release namespace may be watched, and has roles already."""
        metadata = {**tree["metadata"], "name": _watch_name(tree["metadata"]["name"])}
        if "roleRef" not in tree:
            return {**tree, "metadata": metadata}
        reference = {**tree["roleRef"], "name": _watch_name(tree["roleRef"]["name"])}
        return {**tree, "metadata": metadata, "roleRef": reference}

    def _workload(self, spec: Object) -> Object:
        template = spec["template"]
        metadata, pod = template["metadata"], template["spec"]
        (container,) = pod["containers"]
        annotations = {**metadata["annotations"], Spread(".Values.podAnnotations", is_optional=True): None}
        labels = {**metadata["labels"], Spread(".Values.podLabels", is_optional=True): None}
        return {
            "replicas": TemplateExpression(".Values.replicas"),
            "template": {
                "metadata": {**metadata, "annotations": annotations, "labels": labels},
                "spec": {
                    **pod,
                    "serviceAccountName": self._account,
                    "securityContext": OptionalMember(".Values.podSecurityContext"),
                    "containers": [self._container(container)],
                    "volumes": [*pod["volumes"], Spread(".Values.volumes", is_optional=True)],
                    **{name: OptionalMember(f".Values.{name}") for name in _POD},
                    "priorityClassName": OptionalMember(".Values.priorityClassName", is_inline=True),
                },
            },
        }

    def _container(self, container: Object) -> Object:
        env = Spread(".Values.env", is_optional=True)
        members = {
            "image": TemplateExpression(f'include "{self._chart}.image" . | quote'),
            "imagePullPolicy": OptionalMember(".Values.image.pullPolicy", is_inline=True),
            "args": [*container["args"], Spread(".Values.args", is_optional=True)],
            "env": [*container["env"], env] if "env" in container else OptionalMember(".Values.env"),
            "resources": OptionalMember(".Values.resources"),
            "securityContext": OptionalMember(".Values.securityContext"),
            "volumeMounts": [*container["volumeMounts"], Spread(".Values.volumeMounts", is_optional=True)],
        }
        return {"name": container["name"], **members, **container, **members}


def _watch_name(name: str) -> str:
    return name.replace(f"{FULLNAME}-manager-", f"{FULLNAME}-watch-")
