"""Corrections of the groups, resources and verbs of a rule."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from pyctrl.api import AccessRule
from pyctrl.rbac._doctor.served_resources import Served, ServedResource
from pyctrl.rbac._doctor.similar_names import similar_name

__all__ = [
    "VIRTUAL",
    "Correction",
    "corrected_group",
    "corrected_resource",
    "corrected_rule",
    "corrected_verbs",
    "subresources_of",
    "unknown_verbs",
]

VERBS = frozenset(("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"))
PATH_VERBS = frozenset(("get", "head", "options", "post", "put", "patch", "delete"))
_SPECIAL = frozenset(("use", "bind", "escalate", "impersonate", "approve", "sign", "attest", "proxy", "*"))
_VERB_SYNONYMS = {  # the words of other systems
    "read": ("get", "list", "watch"),
    "view": ("get", "list", "watch"),
    "write": ("create", "update", "patch"),
    "edit": ("update", "patch"),
    "modify": ("update", "patch"),
    "put": ("update",),
    "post": ("create",),
    "remove": ("delete",),
    "all": ("*",),
    "any": ("*",),
}

# Resources that are only authorized, never served: kubelet endpoints, signers, and the subjects of impersonation.
VIRTUAL = {
    ("", "users"),
    ("", "groups"),
    ("authentication.k8s.io", "uids"),
    ("authentication.k8s.io", "userextras"),
    ("certificates.k8s.io", "signers"),
    ("policy", "podsecuritypolicies"),
}
_VIRTUAL_PARTS = {
    ("", "nodes"): {"metrics", "stats", "log", "spec", "configz", "healthz", "pods", "checkpoint"},
    ("certificates.k8s.io", "certificatesigningrequests"): {"nodeclient", "selfnodeclient", "selfnodeserver"},
    ("resource.k8s.io", "resourceclaims"): {"binding", "driver"},
}


class Correction(NamedTuple):
    """The correct word, its group if that differs, and the reason."""

    word: str
    group: str | None
    code: str
    why: str


def corrected_group(served: Served, group: str) -> Correction | None:
    """Return the correction of an unknown group; None if the group is known or there is no correction."""
    if served.has_group(group) or group == "*":
        return None
    code = "wrong-api-group"
    if group in ("core", "v1"):
        return Correction("", None, code, f'There is no API group {group!r}: the core group is "" in rules.')
    name, slash, version = group.partition("/")
    if slash:
        why = f"{group!r} is a group and a version: rules name only the group, {name!r}, without {version!r}."
        return Correction(name, None, code, why)
    similar = similar_name(group, (each for each in served.groups if each))
    if similar is None:
        return None
    why = f"There is no API group {group!r}. {similar.name!r} was probably meant: {similar.difference}."
    return Correction(similar.name, None, code, why)


def corrected_resource(served: Served, rule: AccessRule, resource: str) -> Correction | None:
    """Return the correction of a resource that is not in the groups of its rule; None if there is none."""
    plural, slash, part = resource.partition("/")
    found = [each for group in rule.groups if (each := served.find(group, plural)) is not None]
    if plural == "*" or any((group, plural) in VIRTUAL for group in rule.groups):
        return None
    if found:
        return _corrected_subresource(found, part) if slash else None
    elsewhere = served.named(plural)
    if elsewhere:
        if "*" in rule.groups:
            return None
        groups = ", ".join(map(repr, rule.groups))
        why = f"the API group is {elsewhere[0].group!r}, but the rule is for {groups}, which has no such resource"
        return Correction(resource, elsewhere[0].group, "missing-api-group", why)
    return _closest_resource(served, rule, resource)


def _closest_resource(served: Served, rule: AccessRule, resource: str) -> Correction | None:
    """Return the correction of a resource by its kind, singular or short name, or by a similar plural."""
    plural, slash, part = resource.partition("/")
    guess = served.guess(plural, rule.groups)
    if guess is not None:
        group = None if guess.group in rule.groups or "*" in rule.groups else guess.group
        place = f", which is in the API group {group!r}" if group is not None else ""
        why = f"There is no resource {resource!r}: rules name the plural in lower case, {guess.plural!r}{place}."
        return Correction(f"{guess.plural}{slash}{part}", group, "not-a-plural", why)
    known = {each.plural for each in served if each.group in rule.groups}
    similar = similar_name(plural, known)
    if similar is not None:
        why = f"There is no resource {resource!r}. {similar.name!r} was probably meant: {similar.difference}."
        return Correction(f"{similar.name}{slash}{part}", None, "unknown-resource", why)
    if plural != plural.lower():
        why = f"There is no resource {resource!r}: rules name the plural in lower case."
        return Correction(resource.lower(), None, "not-a-plural", why)
    return None


def subresources_of(found: list[ServedResource]) -> set[str]:
    """Return the sub-resources of resources, including those that are only authorized, never served."""
    virtual = (_VIRTUAL_PARTS.get((each.group, each.plural), ()) for each in found)
    return {*(part for each in found for part in each.subresources), *(part for parts in virtual for part in parts)}


def _corrected_subresource(found: list[ServedResource], part: str) -> Correction | None:
    known, plural = subresources_of(found), found[0].plural
    if part in known or part in ("*", "finalizers"):  # OwnerReferencesPermissionEnforcement checks finalizers
        return None
    similar = similar_name(part, known)
    if similar is None:
        return None
    why = f"{plural} have no sub-resource {part!r}. {similar.name!r} was probably meant: {similar.difference}."
    return Correction(f"{plural}/{similar.name}", None, "unknown-subresource", why)


def corrected_verbs(rule: AccessRule, verb: str) -> tuple[str, ...]:
    """Return the verbs that an unknown verb probably meant; empty if there is no correction."""
    known = PATH_VERBS if rule.paths else VERBS
    folded = verb.strip().casefold()
    if folded in known:
        return (folded,)
    if folded in _VERB_SYNONYMS and not rule.paths:
        return _VERB_SYNONYMS[folded]
    similar = similar_name(verb, known)
    return (similar.name,) if similar else ()


def unknown_verbs(rule: AccessRule) -> tuple[str, ...]:
    """Return the verbs of a rule that do not exist; verbs with a prefix, as DRA has, are accepted."""
    known = PATH_VERBS | {"*"} if rule.paths else VERBS | _SPECIAL
    return tuple(verb for verb in rule.verbs if verb not in known and ":" not in verb)


def corrected_rule(served: Served, rule: AccessRule) -> list[AccessRule]:
    """Return a rule with all of its words corrected; resources of other groups get separate rules."""
    groups = tuple(right.word if (right := corrected_group(served, each)) else each for each in rule.groups) or ("",)
    wrong = unknown_verbs(rule)
    verbs = (each for verb in rule.verbs for each in ((verb in wrong and corrected_verbs(rule, verb)) or (verb,)))
    written = replace(rule, groups=tuple(dict.fromkeys(groups)), verbs=tuple(dict.fromkeys(verbs)))
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for resource in rule.resources:
        right = corrected_resource(served, written, resource)
        where = written.groups if right is None or right.group is None else (right.group,)
        found.setdefault(where, {})[resource if right is None else right.word] = None
    if rule.paths:
        return [written]
    return [replace(written, groups=where, resources=tuple(resources)) for where, resources in found.items()]
