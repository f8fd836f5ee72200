"""Signer names; the recordings `own-csr-create` and `own-csr-flow` have the other fields of requests."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._registry.certificates_validation import signer_name_errors


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("example.com/signer", 0),
        ("example.com/a.b", 0),
        ("", 1),
        ("example.com", 1),
        ("example.com/a/b", 1),
        ("example/a", 1),
        ("/a", 2),
        ("example.com/A", 1),
    ],
)
def test_a_signer_is_a_domain_and_a_path(name: str, count: int) -> None:
    """A signer name is a domain of at least two parts, a slash, and a path of lower-case names."""
    assert [error.field for error in signer_name_errors("spec.signerName", name)] == ["spec.signerName"] * count
