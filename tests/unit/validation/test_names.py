"""Validation of names."""

from __future__ import annotations

from pyctrl._validation.names import label, masked_as_prefix, path_segment, qualified_name, subdomain


def test_rules_of_names() -> None:
    """Each rule accepts valid names only."""
    assert subdomain("a.b-c.d") == []
    assert len(subdomain("a" * 254)) == 1
    assert label("a.b") != []
    assert path_segment("system:node") == []
    assert path_segment("a/b%") == ["may not contain '/'", "may not contain '%'"]
    assert path_segment("..") == ["may not be '..'"]
    assert qualified_name("example.com/Name") == []
    assert qualified_name("/x") == ["prefix part must be non-empty"]
    assert subdomain(masked_as_prefix("gen-")) == []
