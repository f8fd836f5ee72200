"""The admission plugin ServiceAccount."""

from __future__ import annotations

from tests.unit.apiserver.admission.plugins._admitted import NAMESPACE, PODS, asking, pod


def test_the_service_account_plugin_mounts_a_token() -> None:
    """With ServiceAccount, pods get an account and its token; a missing account is refused."""
    ask = asking("ServiceAccount")
    code, status = ask("POST", PODS, pod())
    why = 'error looking up service account default/default: serviceaccount "default" not found'
    assert (code, status["message"]) == (403, f'pods "p" is forbidden: {why}')
    ask("POST", f"{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}, "imagePullSecrets": [{"name": "s"}]})
    spec = ask("POST", PODS, pod())[1]["spec"]
    (mount,), (volume,) = spec["containers"][0]["volumeMounts"], spec["volumes"]
    assert (spec["serviceAccountName"], spec["imagePullSecrets"]) == ("default", [{"name": "s"}])
    assert mount["name"] == volume["name"]
    assert volume["projected"]["sources"][0]["serviceAccountToken"] == {"expirationSeconds": 3607, "path": "token"}
