"""Admission plugin PodSecurity: enforces the Pod Security Standards by labels of namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyctrl._go.text import aggregate_messages, quoted
from pyctrl.apiserver._admission._plugins.pod_security_checks import Violation, evaluate_pod
from pyctrl.apiserver._admission._plugins.pod_security_policy import (
    PREFIX,
    LevelVersion,
    Policy,
    policy_to_evaluate,
)
from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._errors import FieldError, forbidden, internal_error, invalid
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["PodSecurity", "PodSecurityConfiguration"]


#: Resource -> where its pod template is; None for the pod itself.
_TEMPLATES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("", "pods"): (),
    ("", "replicationcontrollers"): ("spec", "template"),
    ("", "podtemplates"): ("template",),
    ("apps", "replicasets"): ("spec", "template"),
    ("apps", "deployments"): ("spec", "template"),
    ("apps", "statefulsets"): ("spec", "template"),
    ("apps", "daemonsets"): ("spec", "template"),
    ("batch", "jobs"): ("spec", "template"),
    ("batch", "cronjobs"): ("spec", "jobTemplate", "spec", "template"),
}
_IGNORED_SUBRESOURCES: Final = frozenset(
    ("exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status")
)
PRIVILEGED_POLICY: Final = Policy()
_MAX_PODS: Final = 3000  # that are checked when the labels of a namespace change, as upstream


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSecurityConfiguration:
    """The policy of namespaces without labels, and what is exempt from all policies."""

    defaults: Policy = PRIVILEGED_POLICY
    usernames: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()


NO_CONFIGURATION: Final = PodSecurityConfiguration()


class PodSecurity(Plugin):
    """Denies pods that violate the standard of their namespace, and warns of pods and of templates that do."""

    def __init__(
        self,
        namespaces: Collection,
        pods: Collection,
        configuration: PodSecurityConfiguration = NO_CONFIGURATION,
    ) -> None:
        self._namespaces, self._pods = namespaces, pods
        self._configuration = configuration

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is namespaces, pods, or one with a template of pods."""
        return (group, resource) in _TEMPLATES or (group, resource) == ("", "namespaces")

    def validate(self, attributes: Attributes) -> None:
        """Check a namespace's labels, a pod, or a template of pods.

        Raises:
            StatusError: 403, the pod violates the enforced standard. 422, a label of the namespace is invalid.
        """
        if attributes.operation not in (CREATE, UPDATE) or attributes.object is None:
            return
        resource = attributes.request.target.resource
        if resource == "namespaces":
            if not attributes.subresource:
                self._validate_namespace(attributes, attributes.object)
        elif resource != "pods":
            if not attributes.subresource:
                self._validate_template(attributes, attributes.object)
        elif attributes.subresource not in _IGNORED_SUBRESOURCES:
            self._validate_pod(attributes, attributes.object)

    # -- pods --------------------------------------------------------------------------------------------------

    def _validate_pod(self, attributes: Attributes, pod: Mapping[str, Any]) -> None:
        if self._is_exempt(attributes):
            return
        labels = self._labels(attributes)
        if labels is None:
            raise internal_error(f"failed to lookup namespace {quoted(attributes.namespace)}")
        policy, errors = policy_to_evaluate(labels, self._configuration.defaults)
        if not errors and policy.is_privileged:
            attributes.annotate(f"{PREFIX}enforce-policy", "privileged:latest")
        elif attributes.old is None or _is_significant(pod["spec"], attributes.old["spec"]):
            self._evaluate(attributes, policy, errors, pod, enforces=True)

    def _validate_template(self, attributes: Attributes, obj: Mapping[str, Any]) -> None:
        if self._is_exempt(attributes):
            return
        labels = self._labels(attributes)
        if labels is None:
            why = f"namespaces {quoted(attributes.namespace)} not found"
            attributes.annotate(f"{PREFIX}error", f"failed to lookup namespace {quoted(attributes.namespace)}: {why}")
            return
        policy, errors = policy_to_evaluate(labels, self._configuration.defaults)
        if not errors and policy.warn.level == policy.audit.level == "privileged":
            return
        target = attributes.request.target
        template: Any = obj
        for step in _TEMPLATES[target.group, target.resource]:
            template = (template or {}).get(step)
        if template is not None:
            self._evaluate(attributes, policy, errors, template, enforces=False)

    def _evaluate(
        self,
        attributes: Attributes,
        policy: Policy,
        errors: list[FieldError],
        pod: Mapping[str, Any],
        *,
        enforces: bool,
    ) -> None:
        metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
        if spec.get("runtimeClassName") in self._configuration.runtime_classes:
            attributes.annotate(f"{PREFIX}exempt", "runtimeClass")
            return
        if errors:
            shown = aggregate_messages([f"{error.field}: {error.message}" for error in errors])
            attributes.annotate(f"{PREFIX}error", f"Failed to parse policy: {shown}")
        denied = evaluate_pod(policy.enforce, metadata, spec) if enforces else []
        if enforces:
            attributes.annotate(f"{PREFIX}enforce-policy", str(policy.enforce))
        if audited := evaluate_pod(policy.audit, metadata, spec):
            attributes.annotate(f"{PREFIX}audit-violations", f"would {_violates(policy.audit, audited)}")
        if denied:
            target = attributes.request.target
            raise forbidden(
                target.resource, attributes.name, _violates(policy.enforce, denied, "violates"), target.group
            )
        if warned := evaluate_pod(policy.warn, metadata, spec):
            attributes.warn(f"would {_violates(policy.warn, warned)}")

    def _labels(self, attributes: Attributes) -> Mapping[str, str] | None:
        found = self._namespaces.find("", attributes.namespace)
        return None if found is None else found.labels

    def _is_exempt(self, attributes: Attributes) -> bool:
        reason = ""
        if attributes.namespace in self._configuration.namespaces:
            reason = "namespace"
        elif attributes.user.name in self._configuration.usernames:
            reason = "user"
        if reason:
            attributes.annotate(f"{PREFIX}exempt", reason)
        return bool(reason)

    # -- namespaces --------------------------------------------------------------------------------------------

    def _validate_namespace(self, attributes: Attributes, namespace: Mapping[str, Any]) -> None:
        policy, errors = self._policy_of(namespace)
        name = namespace["metadata"]["name"]
        if attributes.old is None:
            if errors:
                raise invalid("Namespace", attributes.name, errors)
            if name in self._configuration.namespaces:
                attributes.warn(self._exemption_warning(name, policy, namespace))
            return
        old_policy, old_errors = self._policy_of(attributes.old)
        if errors and errors != old_errors:
            raise invalid("Namespace", attributes.name, errors)
        new, old = policy.enforce, old_policy.enforce
        is_relaxed = new.version == old.version and not new.is_stricter_than(old)
        if new == old or new.level == "privileged" or is_relaxed:
            return
        if name in self._configuration.namespaces:
            attributes.warn(self._exemption_warning(name, policy, namespace))
            return
        for warning in self._pod_warnings(name, new):
            attributes.warn(warning)

    def _policy_of(self, namespace: Mapping[str, Any]) -> tuple[Policy, list[FieldError]]:
        return policy_to_evaluate(namespace["metadata"].get("labels") or {}, self._configuration.defaults)

    def _exemption_warning(self, name: str, policy: Policy, namespace: Mapping[str, Any]) -> str:
        """Return a warning of labels that have no effect; "" if there are none."""
        if policy.is_privileged or policy.is_equivalent(self._configuration.defaults):
            return ""
        labels = namespace["metadata"].get("labels") or {}
        modes = {"enforce": policy.enforce, "audit": policy.audit, "warn": policy.warn}
        shown = [
            f"{mode}={each}"
            for mode, each in modes.items()
            if each.level != "privileged" and (f"{PREFIX}{mode}" in labels or f"{PREFIX}{mode}-version" in labels)
        ]
        return (
            f"namespace {quoted(name)} is exempt from Pod Security, and the policy ({', '.join(shown)}) will be ignored"
        )

    def _pod_warnings(self, namespace: str, enforce: LevelVersion) -> Iterator[str]:
        """Yield warnings of existing pods that violate a new standard, one for all pods with the same violations."""
        pods = [pod for pod in (stored.decode() for stored in self._pods.current(namespace)) if self._is_checked(pod)]
        names: dict[str, list[str]] = {}
        for pod in _prioritized(pods)[:_MAX_PODS]:
            if found := evaluate_pod(enforce, pod["metadata"], pod["spec"]):
                names.setdefault(", ".join(each.reason for each in found), []).append(pod["metadata"]["name"])
        if len(pods) > _MAX_PODS:
            checked = f"{_MAX_PODS} of {len(pods)} existing pods"
            yield f"new PodSecurity enforce level only checked against the first {checked}"
        if names:
            shown = f"violate the new PodSecurity enforce level {quoted(str(enforce))}"
            yield f"existing pods in namespace {quoted(namespace)} {shown}"
        yield from sorted(f"{_with_others(found)}: {reasons}" for reasons, found in names.items())

    def _is_checked(self, pod: Mapping[str, Any]) -> bool:
        return pod["spec"].get("runtimeClassName") not in self._configuration.runtime_classes


def _violates(policy: LevelVersion, violations: list[Violation], verb: str = "violate") -> str:
    return f"{verb} PodSecurity {quoted(str(policy))}: {', '.join(map(str, violations))}"


def _is_significant(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Return whether an update changes what the standards are about: containers are added, or images change."""
    for field in ("containers", "initContainers"):
        pairs = new.get(field) or [], old.get(field) or []
        if [each.get("image") for each in pairs[0]] != [each.get("image") for each in pairs[1]]:
            return True
    images = {each["name"]: each.get("image") for each in old.get("ephemeralContainers") or ()}
    return any(
        each["name"] not in images or each.get("image") != images[each["name"]]
        for each in new.get("ephemeralContainers") or ()
    )


def _prioritized(pods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one pod of each controller first, and the other pods of the same controllers last."""
    seen: set[str] = set()
    first: list[dict[str, Any]] = []
    last: list[dict[str, Any]] = []
    for pod in pods:
        owners = pod["metadata"].get("ownerReferences") or ()
        uid = next((each["uid"] for each in owners if each.get("controller")), "")
        (last if uid and uid in seen else first).append(pod)
        seen.add(uid)
    return first + last


def _with_others(names: list[str]) -> str:
    count = len(names) - 1
    others = f" (and {count} other {'pod' if count == 1 else 'pods'})" if count else ""
    return f"{min(names)}{others}"
