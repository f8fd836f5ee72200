"""Table columns that show metadata, Name and Age, with the descriptions that kube-apiserver gives to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyctrl.apiserver._schema.schema import JSON

__all__ = ["AGE_COLUMN", "DEFAULT_COLUMNS", "DESCRIPTIONS", "NAME_COLUMN", "described_column"]

DESCRIPTIONS: Final = {
    "Name": (
        "Name must be unique within a namespace. Is required when creating resources, although some resources may "
        "allow a client to request the generation of an appropriate name automatically. Name is primarily intended for "
        "creation idempotence and configuration definition. Cannot be updated. More info: "
        "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
    ),
    "Age": (
        "CreationTimestamp is a timestamp representing the server time when this object was created. It is not "
        "guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It "
        "is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. "
        "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
    ),
}
NAME_COLUMN: Final[Mapping[str, JSON]] = {
    "name": "Name",
    "type": "string",
    "format": "name",
    "description": DESCRIPTIONS["Name"],
    "priority": 0,
}
AGE_COLUMN: Final[Mapping[str, JSON]] = {
    "name": "Age",
    "type": "date",
    "description": DESCRIPTIONS["Age"],
    "jsonPath": ".metadata.creationTimestamp",
}
#: The columns of a built-in kind that has no columns of its own.
DEFAULT_COLUMNS: Final = (NAME_COLUMN, {**AGE_COLUMN, "type": "string", "format": "", "priority": 0})


def described_column(column: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the definition of a built-in kind's column. Name and Age are described here, the others in their data."""
    shared = DESCRIPTIONS.get("Age" if column["name"] == "Created At" else column["name"], "")
    return {
        "name": column["name"],
        "type": column["type"],
        "format": column["format"],
        "description": column.get("description", shared),
        "priority": column["priority"],
    }
