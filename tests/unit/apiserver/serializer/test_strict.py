"""Strict field validation."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._serializer.strict import duplicate_fields, report_unknown


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"a":1,"b":{"a":2}}', []),
        (b'{"a":1,"a":2,"a":3}', ["a"]),
        (b'{"l":[{"x":1},{"x":1,"x":2}],"m":{"k":{},"k":{}}}', ["l[1].x", "m.k"]),
    ],
)
def test_duplicate_fields_in_document_order(body: bytes, found: list[str]) -> None:
    """Each path is reported once."""
    assert duplicate_fields(body) == found


def test_the_field_validation_decides() -> None:
    """Strict is an error, Warn a warning, Ignore nothing; duplicates in unknown fields are not reported."""
    unknown, duplicates = ["spec.x"], ['duplicate field "spec.x.y"', 'duplicate field "spec.z"']
    warnings: list[str] = []
    report_unknown("K", "v1", unknown, duplicates, "Ignore", warnings)
    assert warnings == []
    report_unknown("K", "v1", unknown, duplicates, "Warn", warnings)
    assert warnings == ['duplicate field "spec.z"', 'unknown field "spec.x"']
    with pytest.raises(StatusError, match='strict decoding error: duplicate field "spec.z", unknown field "spec.x"'):
        report_unknown("K", "v1", unknown, duplicates, "Strict", warnings)
