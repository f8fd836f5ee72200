"""Comparison of granted and used permissions."""

from __future__ import annotations

import pytest

from pyctrl.api import Access, AccessRule
from pyctrl.errors import RbacError
from pyctrl.kinds.core.v1 import Node, Pod
from pyctrl.rbac import EVENTS, Grants, RecordedAccess, allow, compare, grants, read_recording, write_recording

EVERYWHERE, WEB = "", "web"


def rule(verbs: str, resource: str, *names: str, group: str = "") -> AccessRule:
    return AccessRule(verbs=tuple(verbs.split()), groups=(group,), resources=(resource,), names=names)


def asked(verb: str, resource: str, namespace: str = WEB, *names: str, times: int = 1, by: str = "") -> RecordedAccess:
    plural, _, subresource = resource.partition("/")
    access = Access(verb, "", plural, subresource, namespace)
    return RecordedAccess(access=access, names=frozenset(names or [""]), times=times, first_by=by)


def test_nothing_differs_where_all_that_is_granted_was_asked_for() -> None:
    """A permission for the whole cluster counts as used if it is used in one namespace."""
    granted = Grants({EVERYWHERE: (rule("get list", "pods"),), WEB: (rule("create", "secrets"),)})
    found = compare(granted, [asked("get", "pods"), asked("list", "pods", EVERYWHERE), asked("create", "secrets")])
    assert found.lines() == []


def test_what_is_missing_is_named_with_who_asked() -> None:
    """A missing permission is reported with the place, the count and the requester."""
    granted = Grants({WEB: (rule("get", "pods"),)})
    wanted = [
        asked("get", "pods"),
        asked("get", "pods", EVERYWHERE, by="test_a"),
        asked("patch", "pods/status", WEB, "a", times=2, by="test_a"),
        asked("patch", "pods/status", WEB, "b", by="test_b"),
    ]
    assert compare(granted, wanted).lines() == [
        "missing: get pods at the cluster scope (requested once, by test_a)",
        "missing: patch pods/status in namespace 'web' (requested 3 times, first by test_a)",
    ]


def test_a_right_to_some_names_is_missing_for_others() -> None:
    """With permission for some names, other names that were read are missing; create has no names."""
    granted = Grants({WEB: (rule("create get", "secrets", "a", "c"),)})
    found = compare(granted, [asked("get", "secrets", WEB, "a", "b"), asked("create", "secrets")])
    assert found.lines() == [
        "missing: create secrets in namespace 'web' (requested once)",
        "missing: get secrets 'b' in namespace 'web' (requested once)",
        "unused: create secrets 'a' in namespace 'web'",
        "unused: create secrets 'c' in namespace 'web'",
        "unused: get secrets 'c' in namespace 'web'",
    ]


def test_what_was_never_asked_for_is_named() -> None:
    """Each unused verb on each resource of a rule is reported, and each unused path."""
    granted = Grants({EVERYWHERE: (rule("delete get", "pods"), AccessRule(verbs=("get",), paths=("/metrics",)))})
    found = compare(granted, [asked("get", "pods")])
    assert found.lines() == ["unused: delete pods at the cluster scope", "unused: get /metrics"]


@pytest.mark.parametrize("namespaces", [None, [WEB]])
def test_what_is_not_essential_is_not_unused(namespaces: list[str] | None) -> None:
    """A permission that is not essential is granted, but unused only if an essential declaration has it, too."""
    declared = [EVENTS, allow(Pod, "get"), allow(Pod, "get", "delete", essential=False)]
    granted = grants(declared, namespaces=namespaces, own_namespace="op")
    place = "at the cluster scope" if namespaces is None else "in namespace 'web'"
    assert "events" in {access.resource for access in granted.accesses()}
    assert compare(granted, []).lines() == [f"unused: get pods {place}"]
    assert compare(granted.without(granted.accesses()[0]), [asked("get", "pods")]).lines() == []
    essential = allow(Node, "patch")
    both = grants([essential, allow(Node, "patch", essential=False)], namespaces=namespaces, own_namespace="op")
    assert compare(both, []).lines() == ["unused: patch nodes at the cluster scope"]


def test_a_wildcard_says_what_could_stand_in_its_place() -> None:
    """A wildcard is reported with the permissions that were used, and not as unused."""
    granted = Grants({EVERYWHERE: (rule("*", "pods"), rule("get", "*", group="apps"))})
    found = compare(granted, [asked("list", "pods"), asked("get", "pods", EVERYWHERE)])
    assert found.lines() == [
        "wildcard: * pods at the cluster scope (used: get pods, list pods)",
        "wildcard: get *.apps at the cluster scope (used: nothing)",
    ]


def test_what_everybody_may_is_no_right_of_the_program() -> None:
    """Discovery and self reviews are neither missing nor unused."""
    discovery = RecordedAccess(access=Access("get", path="/apis/apps/v1", is_resource=False))
    review = RecordedAccess(access=Access("create", "authorization.k8s.io", "selfsubjectaccessreviews"))
    assert compare(Grants({}), [discovery, review]).lines() == []


# --- files ---


def test_a_recording_is_read_as_it_was_written() -> None:
    """A recording is sorted, one line per access, and stores only whether there is a namespace."""
    path = RecordedAccess(access=Access("get", path="/metrics", is_resource=False))
    wanted = [asked("watch", "pods", EVERYWHERE, by="t"), asked("patch", "pods/status", WEB, "b", "a", times=2), path]
    text = write_recording(wanted)
    assert [line.split(", ")[0] for line in text.splitlines()[1:-1]] == [
        '  {"verb": "get"',
        '  {"verb": "patch"',
        '  {"verb": "watch"',
    ]
    assert write_recording(read_recording(text, "file")) == text
    again = {str(each) for each in read_recording(text, "file")}
    assert "patch pods/status 'a', 'b' in some namespace (requested 2 times)" in again
    assert read_recording(write_recording([]), "file") == []


def test_recordings_of_several_runs_add_up() -> None:
    """Accesses of several runs in different namespaces become one line, which matches a permission in any namespace."""
    text = write_recording([asked("get", "pods", "test-1", by="a"), asked("get", "pods", "test-2", by="b")])
    [both] = read_recording(text, "file")
    assert (both.times, both.first_by) == (2, "a")
    assert compare(Grants({WEB: (rule("get", "pods"),)}), [both]).lines() == []
    assert compare(Grants({}), [both]).lines() == [
        "missing: get pods in some namespace (requested 2 times, first by a)"
    ]


def test_many_names_are_no_particular_ones() -> None:
    """More than 20 names of one resource are left out, so that generated names do not grow the file."""
    few, many = ([f"pod-{number}" for number in range(count)] for count in (20, 21))
    assert '"names"' in write_recording([asked("get", "pods", WEB, *few)])
    assert '"names"' not in write_recording([asked("get", "pods", WEB, *many)])


@pytest.mark.parametrize("text", ["", "[]", '{"accesses": [{"verb": "get"}]}', '{"accesses": 3}'])
def test_a_file_that_is_no_recording_is_refused(text: str) -> None:
    """An invalid recording is rejected with the file and the command that writes recordings."""
    with pytest.raises(RbacError, match=r"^asked\.json is not a recording written by pytest --rbac-record"):
        read_recording(text, "asked.json")
