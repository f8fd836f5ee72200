"""CustomResourceDefinitions from Python types, and back: generated, imported, compared, and used for validation.

`definition` generates the CustomResourceDefinition of a kind from its classes. `check_definition` returns the errors
that the API server would report for a definition. `import_definitions` generates classes from definitions.
`compare_definitions` reports how a change of a definition affects stored objects. `sample` generates a sample object.
`ManifestValidator` validates objects in files as the API server would. `json_schema` generates the JSON Schema of a
kind, for editors.

Names are imported lazily.
"""

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names

if TYPE_CHECKING:
    from pyctrl.manifests._crd.definition import definition
    from pyctrl.manifests._crd.server_errors import check_definition
    from pyctrl.manifests._crd_diff.changes import DefinitionChange, Effect, has_breaking_changes
    from pyctrl.manifests._crd_diff.definitions import compare_definition_sets, compare_definitions
    from pyctrl.manifests._crd_import.definitions import Imported, import_definitions
    from pyctrl.manifests._documents import Document, Position, read_manifest_objects
    from pyctrl.manifests._explain import ExplainedField, NoSuchField, Schemas
    from pyctrl.manifests._json_schema import json_schema, json_schema_index, json_schema_path
    from pyctrl.manifests._sample import sample
    from pyctrl.manifests._validator import DEFINITION, ManifestProblem, ManifestValidator, ValidationResult

__all__ = [
    "DEFINITION",
    "DefinitionChange",
    "Document",
    "Effect",
    "ExplainedField",
    "Imported",
    "ManifestProblem",
    "ManifestValidator",
    "NoSuchField",
    "Position",
    "Schemas",
    "ValidationResult",
    "check_definition",
    "compare_definition_sets",
    "compare_definitions",
    "definition",
    "has_breaking_changes",
    "import_definitions",
    "json_schema",
    "json_schema_index",
    "json_schema_path",
    "read_manifest_objects",
    "sample",
]

_FILES = {
    **dict.fromkeys(("DefinitionChange", "Effect", "has_breaking_changes"), "_crd_diff.changes"),
    **dict.fromkeys(("compare_definitions", "compare_definition_sets"), "_crd_diff.definitions"),
    **dict.fromkeys(("Document", "Position", "read_manifest_objects"), "_documents"),
    **dict.fromkeys(("DEFINITION", "ManifestProblem", "ManifestValidator", "ValidationResult"), "_validator"),
    **dict.fromkeys(("ExplainedField", "NoSuchField", "Schemas"), "_explain"),
    **dict.fromkeys(("Imported", "import_definitions"), "_crd_import.definitions"),
    **dict.fromkeys(("json_schema", "json_schema_index", "json_schema_path"), "_json_schema"),
    "check_definition": "_crd.server_errors",
    "definition": "_crd.definition",
    "sample": "_sample",
}

if not TYPE_CHECKING:  # otherwise type checkers would accept any name
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
