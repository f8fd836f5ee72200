"""RBAC authorizer: decides by the stored roles and bindings.

Bindings are indexed by subject in the transaction of the write that changes them, so a stored binding is effective
at once. Rules of roles are decoded once. Decisions are cached until any role or binding changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pyctrl._go.text import aggregate_messages, quoted
from pyctrl.api import Access, AccessRule
from pyctrl.apiserver._authn import User, service_account_of
from pyctrl.apiserver._authz.authorizer import GROUP, Decision, RoleReference
from pyctrl.apiserver._storage.storage import Collection, Storage, StoredObject, WatchCacheEvent

__all__ = ["GROUP", "RBACAuthorizer"]


MAX_CACHED_DECISIONS = 10_000

Subject = tuple[str, str, str]  # kind, namespace (of a service account), name


class RBACAuthorizer:
    """Decides by the roles bound to a user and its groups. `system:masters` is always allowed."""

    def __init__(self, storage: Storage) -> None:
        self._roles = {kind: storage.collection(GROUP, plural) for kind, plural in _ROLES.items()}
        self._read: dict[tuple[str, str], tuple[StoredObject, list[AccessRule]]] = {}
        self._bindings: dict[Subject, dict[_ResourceKey, _SubjectBinding]] = {}
        self._decided: dict[tuple[User, Access], Decision] = {}
        for plural in ("clusterrolebindings", "rolebindings"):
            self._follow(storage.collection(GROUP, plural), self._binding_changed)
        for collection in self._roles.values():
            self._follow(collection, self._role_changed)

    def decide(self, user: User, access: Access) -> Decision:
        """Decide whether a user has an access."""
        if user.is_administrator:
            return Decision(is_allowed=True)
        decision = self._decided.get((user, access))
        if decision is None:
            if len(self._decided) >= MAX_CACHED_DECISIONS:
                self._decided.clear()
            decision = self._decided[user, access] = self._decide(user, access)
        return decision

    def rules(self, user: User, namespace: str) -> tuple[list[AccessRule], list[RoleReference]]:
        """Return the rules bound to a user in a namespace, and the bound roles that do not exist."""
        rules: list[AccessRule] = []
        absent: dict[RoleReference, None] = {}
        for binding, _ in self._of(user, namespace):
            found = self._role_of(binding)
            if found is None:
                absent[binding.role] = None
            else:
                rules += found
        return rules, list(absent)

    def unresolved(self, user: User) -> str:
        """Return nothing: all rules are known."""
        return ""

    def role(self, kind: str, namespace: str, name: str) -> list[AccessRule] | None:
        """Return the rules of a role; None if it does not exist."""
        stored = self._roles[kind].find("" if kind == "ClusterRole" else namespace, name)
        if stored is None:
            return None
        known = self._read.get((kind, stored.key))
        if known is None or known[0] is not stored:
            rules = [AccessRule.read(rule) for rule in stored.decode().get("rules") or ()]
            known = self._read[kind, stored.key] = stored, rules
        return known[1]

    def _role_of(self, binding: _SubjectBinding) -> list[AccessRule] | None:
        return self.role(binding.role.kind, binding.key.namespace, binding.role.name)

    def _decide(self, user: User, access: Access) -> Decision:
        errors: list[str] = []
        for binding, subject in self._of(user, access.namespace):
            rules = self._role_of(binding)
            if rules is None:
                errors.append(str(binding.role))
            elif any(rule.allows(access) for rule in rules):
                return Decision(True, f"RBAC: allowed by {binding.description} to {_format_subject(subject)}")
        return Decision(False, f"RBAC: {aggregate_messages(errors)}" if errors else "")

    def _of(self, user: User, namespace: str) -> Iterator[tuple[_SubjectBinding, Subject]]:
        """Yield the bindings of a user with the subject that matches, ClusterRoleBindings first."""
        found: dict[_ResourceKey, tuple[_SubjectBinding, Subject]] = {}
        for subject in _subjects(user):
            for key, binding in self._bindings.get(subject, _NO_BINDINGS).items():
                if key.namespace in ("", namespace):
                    found.setdefault(key, (binding, subject))
        for key in sorted(found):
            yield found[key]

    # -- changes of the storage ----------------------------------------------------------------------------------

    @staticmethod
    def _follow(collection: Collection, changed: Any) -> None:
        for stored in collection.current(""):
            changed(WatchCacheEvent("ADDED", stored.version, stored, None))
        collection.listen(changed)

    def _role_changed(self, event: WatchCacheEvent) -> None:
        self._decided.clear()

    def _binding_changed(self, event: WatchCacheEvent) -> None:
        self._decided.clear()
        for stored, is_there in ((event.previous, False), (event.current, True)):
            if stored is None:
                continue
            binding = _SubjectBinding.read(stored)
            for subject in binding.subjects:
                bound = self._bindings.setdefault(subject, {})
                if is_there:
                    bound[binding.key] = binding
                else:
                    bound.pop(binding.key, None)


_NO_BINDINGS: Mapping[_ResourceKey, _SubjectBinding] = {}
_ROLES = {"ClusterRole": "clusterroles", "Role": "roles"}


class _ResourceKey(NamedTuple):
    namespace: str  # "" for a cluster-scoped object
    name: str


class _SubjectBinding(NamedTuple):
    key: _ResourceKey
    role: RoleReference
    subjects: tuple[Subject, ...]

    @classmethod
    def read(cls, stored: StoredObject) -> _SubjectBinding:
        obj = stored.decode()
        reference = obj["roleRef"]
        subjects = tuple(_subject(each, stored.namespace) for each in obj.get("subjects") or ())
        role = RoleReference(reference["kind"], reference["name"])
        return cls(_ResourceKey(stored.namespace, stored.name), role, subjects)

    @property
    def description(self) -> str:
        namespace, name = self.key
        binding = f"RoleBinding {quoted(f'{name}/{namespace}')}" if namespace else f"ClusterRoleBinding {quoted(name)}"
        return f"{binding} of {self.role.kind} {quoted(self.role.name)}"


def _subject(subject: Mapping[str, Any], namespace: str) -> Subject:
    is_account = subject["kind"] == "ServiceAccount"
    return subject["kind"], (subject.get("namespace") or namespace) if is_account else "", subject["name"]


def _subjects(user: User) -> Iterator[Subject]:
    """Yield the subjects that match a user."""
    yield "User", "", user.name
    if account := service_account_of(user.name):
        yield "ServiceAccount", *account
    for group in user.groups:
        yield "Group", "", group


def _format_subject(subject: Subject) -> str:
    kind, namespace, name = subject
    return f"{kind} {quoted(f'{name}/{namespace}' if kind == 'ServiceAccount' else name)}"
