"""Roles and bindings of the bootstrap policy at a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, SQLiteBackend
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.authz._rbac import RBAC

ROLE, BINDING = f"{RBAC}/clusterroles/system:node-proxier", f"{RBAC}/clusterrolebindings/system:node-proxier"
AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
EXTRA = {"apiGroups": ["x.io"], "resources": ["things"], "verbs": ["get"]}
JANE = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"}

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def restarted(tmp_path: Path) -> Callable[[str, Change], tuple[dict[str, Any], dict[str, Any]]]:
    """Change an object, restart, and return it as it was at first and as it is then."""

    def restart(path: str, change: Change) -> tuple[dict[str, Any], dict[str, Any]]:
        with SQLiteBackend(tmp_path / "state.db") as backend:
            ask = _administrator(backend)
            before, obj = ask("GET", path)[1], ask("GET", path)[1]
            change(obj)
            assert ask("PUT", path, obj)[0] == 200
        with SQLiteBackend(tmp_path / "state.db") as backend:
            return before, _administrator(backend)("GET", path)[1]

    return restart


class _Administrator(Asker):
    def answer(self, method: str, path: str, body: Any = None, *, headers: Any = None, **query: str) -> Any:
        own = {"Authorization": f"Bearer {self.server.loopback_token}"}
        return super().answer(method, path, body, headers=own, **query)


def _administrator(backend: SQLiteBackend) -> Asker:
    return _Administrator(ApiServer(backend=backend, authorization="RBAC"))


def test_missing_rules_are_added_and_others_kept(restarted: Any) -> None:
    """A rule that a user removed is there again after a restart; a rule that the user added stays."""

    def change(role: dict[str, Any]) -> None:
        role["rules"] = [*role["rules"][1:], EXTRA]

    before, after = restarted(ROLE, change)
    assert EXTRA in after["rules"]
    assert after["rules"][: len(before["rules"]) - 1] == before["rules"][1:]
    missing = before["rules"][0]
    assert {(each["resources"][0], *each["verbs"]) for each in after["rules"][len(before["rules"]) :]} == {
        (resource, *missing["verbs"]) for resource in missing["resources"]
    }


def test_missing_labels_and_subjects_are_added(restarted: Any) -> None:
    """Labels and subjects that a user removed are there again; changed labels and other subjects stay."""

    def change(binding: dict[str, Any]) -> None:
        binding["subjects"] = [JANE]
        binding["metadata"]["labels"] = {"kubernetes.io/bootstrapping": "mine"}
        del binding["metadata"]["annotations"]

    before, after = restarted(BINDING, change)
    assert after["subjects"] == [JANE, *before["subjects"]]
    assert after["metadata"]["labels"] == {"kubernetes.io/bootstrapping": "mine"}
    assert after["metadata"]["annotations"] == {AUTO_UPDATE: "true"}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


def test_aggregation_is_added_to_what_users_aggregate(restarted: Any) -> None:
    """A selector that a user removed from an aggregated role is there again; the user's own selector stays."""
    own = {"matchLabels": {"x.io/aggregate": "true"}}

    def change(role: dict[str, Any]) -> None:
        role["aggregationRule"]["clusterRoleSelectors"] = [own]

    before, after = restarted(f"{RBAC}/clusterroles/admin", change)
    selectors = [own, *before["aggregationRule"]["clusterRoleSelectors"]]
    assert after["aggregationRule"]["clusterRoleSelectors"] == selectors


def test_an_aggregation_that_is_not_expected_is_removed(restarted: Any) -> None:
    """A default role that a user made an aggregated one is none after a restart."""

    def change(role: dict[str, Any]) -> None:
        role["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": {"x": "y"}}]}

    _, after = restarted(ROLE, change)
    assert "aggregationRule" not in after


@pytest.mark.parametrize("path", [ROLE, BINDING])
def test_auto_update_can_be_turned_off(restarted: Any, path: str) -> None:
    """With the annotation `autoupdate: "false"`, a restart does not change a role or binding."""

    def change(obj: dict[str, Any]) -> None:
        obj["metadata"]["annotations"][AUTO_UPDATE] = "false"
        obj["rules" if "rules" in obj else "subjects"] = []

    _, after = restarted(path, change)
    assert not after.get("rules")
    assert not after.get("subjects")


def test_an_unchanged_policy_is_not_written(restarted: Any) -> None:
    """A restart gives no object of the policy a new version."""
    before, after = restarted(ROLE, lambda _: None)
    assert after == before


def test_a_binding_of_another_role_is_made_again(tmp_path: Path) -> None:
    """A default binding that was deleted and created with another role has its own role after a restart."""
    with SQLiteBackend(tmp_path / "state.db") as backend:
        ask = _administrator(backend)
        binding = ask("GET", BINDING)[1]
        ask("DELETE", BINDING)
        other = {**binding, "metadata": {"name": "system:node-proxier"}, "roleRef": {**binding["roleRef"], "name": "x"}}
        assert ask("POST", f"{RBAC}/clusterrolebindings", other)[0] == 201
    with SQLiteBackend(tmp_path / "state.db") as backend:
        assert _administrator(backend)("GET", BINDING)[1]["roleRef"] == binding["roleRef"]
