"""Order of the members of a patched object in errors."""

from __future__ import annotations

from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker


def test_what_a_patch_touches_is_sorted(ask: Asker) -> None:
    """The error of a patch that does not fit shows sorted members where it changes the object, Go's order elsewhere."""
    ask.make("a", data={"z": "1", "b": "2"}, labels={"y": "1", "x": "2"})
    code, refused = ask("PATCH", f"{CONFIGMAPS}/a", {"data": {"a": 5}}, headers=MERGE)
    assert code == 422
    text = refused["details"]["causes"][0]["message"]
    shown = [
        text.index(f'\\"{each}\\"') for each in ("a", "b", "z", "kind", "metadata", "name", "uid", "labels", "x", "y")
    ]
    assert shown == sorted(shown)


def test_changed_metadata_is_sorted(ask: Asker) -> None:
    """A patch of metadata sorts its members, too."""
    ask.make("a", labels={"y": "1"})
    code, refused = ask("PATCH", f"{CONFIGMAPS}/a", {"metadata": {"labels": {"x": 5}}}, headers=MERGE)
    assert code == 422
    text = refused["details"]["causes"][0]["message"]
    shown = [
        text.index(f'\\"{each}\\"')
        for each in ("creationTimestamp", "labels", "x", "y", "managedFields", "namespace", "uid")
    ]
    assert shown == sorted(shown)


def test_what_a_patch_does_not_touch_has_the_order_of_go(ask: Asker) -> None:
    """The error of a patch that does not fit shows structs in lists as Go writes them, whatever the client sent."""
    roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    ask("POST", roles, {"metadata": {"name": "a"}, "rules": [rule]})
    code, refused = ask("PATCH", f"{roles}/a", {"metadata": {"labels": {"x": 5}}}, headers=MERGE)
    assert code == 422
    shown = r"\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]"
    assert shown in refused["details"]["causes"][0]["message"]


def test_structs_of_one_name_have_the_order_of_their_package(ask: Asker) -> None:
    """The ports of Endpoints and of an EndpointSlice have the same fields in different orders."""
    port = {"port": 80, "protocol": "TCP", "name": "a"}
    endpoints = {"subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [port]}]}
    endpoint_slice = {"addressType": "IPv4", "endpoints": [], "ports": [port]}
    shown = []
    for path, body in (
        ("/api/v1/namespaces/default/endpoints", endpoints),
        ("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", endpoint_slice),
    ):
        ask("POST", path, {"metadata": {"name": "a"}, **body})
        _, refused = ask("PATCH", f"{path}/a", {"metadata": {"labels": {"x": 5}}}, headers=MERGE)
        text = refused["details"]["causes"][0]["message"].replace("\\", "")
        shown.append('"name":"a","protocol":"TCP","port":80' in text)
    assert shown == [False, True]
