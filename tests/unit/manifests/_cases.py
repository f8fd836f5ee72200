"""All cases, one field each, with their schemas: every mark, every type."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.manifests._case import Case, sample_kind
from tests.unit.manifests._case_marks import MARKS, TOLD
from tests.unit.manifests._case_types import COLLECTIONS, CONSTRAINTS, DEFAULTS, MODELS, SCALARS, UNIONS

__all__ = ["CASES", "Case", "sample_kind"]

CASES: Sequence[Case] = (*CONSTRAINTS, *SCALARS, *COLLECTIONS, *MARKS, *TOLD, *DEFAULTS, *UNIONS, *MODELS)
