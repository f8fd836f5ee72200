"""The bootstrap policy of RBAC."""

from __future__ import annotations

import pytest

from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.authz._rbac import RBAC, Guarded


@pytest.fixture
def ask() -> Guarded:
    """Return a server with RBAC."""
    return Guarded()


def test_everybody_who_is_known_may_look_around(ask: Guarded) -> None:
    """The bootstrap policy allows discovery for authenticated users and /version for all."""
    anybody = {"Authorization": ""}
    assert ask("GET", "/version", headers=anybody)[0] == 200
    assert ask("GET", "/apis", headers=anybody)[0] == 403
    assert ask("GET", "/apis", headers=ask.as_("jane"))[0] == 200
    assert ask("GET", "/metrics", headers=ask.as_("jane"))[1]["message"] == (
        'forbidden: User "jane" cannot get path "/metrics"'
    )


def test_the_policy_is_listed_as_a_real_server_lists_it(ask: Guarded) -> None:
    """The bootstrap policy is that of kube-apiserver 1.36; without RBAC there is none."""
    counts = {}
    for resource in ("clusterroles", "clusterrolebindings", "roles", "rolebindings"):
        _, found = ask("GET", f"{RBAC}/{resource}", labelSelector="kubernetes.io/bootstrapping=rbac-defaults")
        counts[resource] = len(found["items"])
    assert counts == {"clusterroles": 69, "clusterrolebindings": 50, "roles": 7, "rolebindings": 7}
    _, role = ask("GET", f"{RBAC}/clusterroles/cluster-admin")
    assert role["metadata"]["annotations"] == {"rbac.authorization.kubernetes.io/autoupdate": "true"}
    assert role["metadata"]["managedFields"][0]["manager"] == "kube-apiserver"
    assert Asker()("GET", f"{RBAC}/clusterroles")[1]["items"] == []
