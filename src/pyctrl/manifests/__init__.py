"""From types to manifests, and back: definitions made from the classes of their kinds, compared, and validated by.

`definition` makes the CustomResourceDefinition of a kind. The classes are the only source. `check_definition` says
what the API server has against one. `import_definitions` writes the classes of somebody else's definitions. `compare`
says what a change of a definition does to the objects that are stored. `sample` makes an object up. A `Validator` says
of objects in files what the API server would.

Nothing is imported before it is used.
"""

from typing import TYPE_CHECKING

from pyctrl._door import opened_by_name

if TYPE_CHECKING:
    from pyctrl.manifests._changes import Change, Effect, breaks
    from pyctrl.manifests._check import check_definition
    from pyctrl.manifests._crd_changes import compare, compare_sets
    from pyctrl.manifests._definition import definition
    from pyctrl.manifests._documents import Document, Position, read_documents
    from pyctrl.manifests._explaining import Explained, NoSuchField, Schemas
    from pyctrl.manifests._importing import Imported, import_definitions
    from pyctrl.manifests._sample import sample
    from pyctrl.manifests._validator import DEFINITION, Problem, Validator, Verdict

__all__ = [
    "DEFINITION",
    "Change",
    "Document",
    "Effect",
    "Explained",
    "Imported",
    "NoSuchField",
    "Position",
    "Problem",
    "Schemas",
    "Validator",
    "Verdict",
    "breaks",
    "check_definition",
    "compare",
    "compare_sets",
    "definition",
    "import_definitions",
    "read_documents",
    "sample",
]

_FILES = {
    **dict.fromkeys(("Change", "Effect", "breaks"), "_changes"),
    **dict.fromkeys(("compare", "compare_sets"), "_crd_changes"),
    **dict.fromkeys(("Document", "Position", "read_documents"), "_documents"),
    **dict.fromkeys(("DEFINITION", "Problem", "Validator", "Verdict"), "_validator"),
    **dict.fromkeys(("Explained", "NoSuchField", "Schemas"), "_explaining"),
    **dict.fromkeys(("Imported", "import_definitions"), "_importing"),
    "check_definition": "_check",
    "definition": "_definition",
    "sample": "_sample",
}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = opened_by_name(__name__, _FILES)
