"""An API server with RBAC, for tests of authorization."""

from __future__ import annotations

from random import Random
from typing import Any

from pyctrl.apiserver import ApiServer, User
from tests.unit.apiserver._kit import Asker

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES, BINDINGS = f"{RBAC}/namespaces/default/roles", f"{RBAC}/namespaces/default/rolebindings"
READ = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}
GRANT = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["create", "update", "patch"]}


class Guarded(Asker):
    """A server with RBAC. Requests without a user are made by its administrator."""

    def __init__(self) -> None:
        super().__init__(ApiServer(random=Random(1), authorization="RBAC"))

    def answer(self, method: str, path: str, body: Any = None, *, headers: Any = None, **query: str) -> Any:
        own = {"Authorization": f"Bearer {self.server.loopback_token}"}
        return super().answer(method, path, body, headers={**own, **(headers or {})}, **query)

    def grant(self, role: str, *rules: dict[str, Any], **subject: str) -> None:
        """Create a role in `default` and bind it, to user `jane` by default."""
        assert self("POST", ROLES, {"metadata": {"name": role}, "rules": list(rules)})[0] == 201
        self.bind("Role", role, **(subject or {"kind": "User", "name": "jane"}))

    def bind(self, role_kind: str, role: str, **subject: str) -> None:
        """Bind a role in `default`."""
        body: dict[str, Any] = {
            "metadata": {"name": f"{role}.{subject['name']}"},
            "roleRef": {"kind": role_kind, "name": role},
        }
        assert self("POST", BINDINGS, {**body, "subjects": [subject]})[0] == 201

    def as_(self, name: str, *groups: str) -> dict[str, str]:
        """Return the headers of a user."""
        return {"Authorization": f"Bearer {self.server.issue_token(User(name=name, groups=groups))}"}
