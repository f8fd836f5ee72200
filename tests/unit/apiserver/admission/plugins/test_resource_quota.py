"""The admission plugin ResourceQuota."""

from __future__ import annotations

from tests.unit.apiserver.admission.plugins._admitted import NAMESPACE, asking


def test_objects_over_a_quota_are_refused() -> None:
    """A second ConfigMap is refused when the quota has one, and the quota counts the first."""
    ask = asking()
    quotas = f"{NAMESPACE}/resourcequotas"
    hard = {"count/configmaps": "1"}
    ask("POST", quotas, {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    counted = ask("GET", f"{quotas}/q")[1]
    ask("PUT", f"{quotas}/q/status", counted | {"status": {"hard": hard, "used": {"count/configmaps": "0"}}})
    assert ask("POST", f"{NAMESPACE}/configmaps", {"metadata": {"name": "a"}})[0] == 201
    code, status = ask("POST", f"{NAMESPACE}/configmaps", {"metadata": {"name": "b"}})
    why = "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1"
    assert (code, status["message"]) == (403, f'configmaps "b" is forbidden: {why}')
    assert ask("GET", f"{quotas}/q")[1]["status"]["used"] == hard
