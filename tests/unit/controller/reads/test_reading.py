"""The declaration of a kind that is read."""

from __future__ import annotations

import pytest

from pyctrl.api import GroupVersionKind
from pyctrl.controller import reading
from pyctrl.controller._reads.reading import as_reading
from pyctrl.errors import NotRegistered
from pyctrl.kinds.core.v1 import ConfigMap, Secret


def test_a_kind_alone_means_each_change() -> None:
    """A kind in `reads` is the same as `reading(kind)`: each new version counts, and the kind must be served."""
    assert as_reading(Secret) == reading(Secret)
    declared = reading(Secret, of="data", optional=True)
    assert as_reading(declared) is declared


def test_one_path_or_several() -> None:
    """Fields are a path or several; metadata, and names as in JSON, are fields."""
    assert reading(Secret, of="data").of == ("data",)
    assert reading(Secret, of=["stringData", "metadata.labels"]).of == ("stringData", "metadata.labels")


@pytest.mark.parametrize("path", ["", "data.", ".data", "data..key"])
def test_a_path_with_an_empty_part_is_refused(path: str) -> None:
    """A path that can match nothing is an error when it is declared."""
    with pytest.raises(ValueError, match="dotted paths of fields"):
        reading(Secret, of=path)


def test_an_unknown_field_is_refused_with_the_known_ones() -> None:
    """A misspelt field is an error with the fields of the kind, not a declaration that never triggers."""
    with pytest.raises(ValueError, match=r"no field 'date' .*; it has: .*binaryData, data"):
        reading(ConfigMap, of="date.key")


def test_fields_of_kinds_without_a_class_are_not_checked() -> None:
    """A kind by name accepts any path."""
    assert reading(GroupVersionKind("example.com", "v1", "Box"), of="spec.size").of == ("spec.size",)


def test_a_class_that_is_no_kind_is_refused() -> None:
    """Something else than a kind is an error at the declaration."""
    with pytest.raises(NotRegistered):
        reading(dict)  # type: ignore[arg-type]
