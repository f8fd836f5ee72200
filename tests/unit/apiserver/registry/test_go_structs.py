"""Objects as Kubernetes' internal Go types print."""

from __future__ import annotations

from pyctrl.apiserver._registry.go_structs import go_diff, go_struct, go_value


def test_every_field_is_printed_by_its_go_name() -> None:
    """A struct prints all fields in the order of the Go type, zeros included."""
    assert go_struct("SecretReference", {"name": "a"}) == {"Name": "a", "Namespace": ""}
    assert go_struct("SecretReference", None) is None


def test_fields_of_the_pod_are_in_its_internal_security_context() -> None:
    """The internal security context has hostNetwork and its like, which are fields of the spec on the wire."""
    printed = go_struct("PodSpec", {"hostNetwork": True, "securityContext": {}})
    assert printed is not None
    assert printed["SecurityContext"]["HostNetwork"] is True
    assert "HostNetwork" not in printed


def test_values_print_by_their_types() -> None:
    """Maps are sorted, absent lists are null, and a quantity without a value is 0."""
    assert go_value("map[string]string", {"b": "1", "a": "2"}) == {"a": "2", "b": "1"}
    assert go_value("[]string", None) is None
    assert go_value("resource.Quantity", None) == "0"
    assert go_value("*metav1.LabelSelector", {"matchExpressions": [{"key": "a", "operator": "Exists"}]}) == {
        "matchExpressions": [{"key": "a", "operator": "Exists"}]
    }


def test_a_diff_has_three_lines_of_context() -> None:
    """A diff shows the changed lines, and three unchanged lines around them."""
    old = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    assert (
        go_diff(old, {**old, "e": 6}) == '\n@@ -3,5 +3,5 @@\n  "b": 2,\n  "c": 3,\n  "d": 4,\n- "e": 5\n+ "e": 6\n }\n'
    )
