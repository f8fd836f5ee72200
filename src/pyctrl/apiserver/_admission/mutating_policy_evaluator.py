"""Evaluation of one MutatingAdmissionPolicy: its match conditions and its patches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from pyctrl.apiserver._admission.mutating_patch import (
    MutationFailed,
    apply_configuration,
    apply_json_patch_value,
    decode_configured,
)
from pyctrl.apiserver._admission.policy_compiler import CompositedCompiler, ExpressionFailed
from pyctrl.cel import RUNTIME_BUDGET, CostBudget, OutOfBudget, Patience

if TYPE_CHECKING:
    from pyctrl.apiserver._admission.subresource_type import PatchedType

__all__ = ["PolicyMutator"]


#: Takes the CEL variables, the object, its type, and the patience of the evaluation; returns the patched object.
_Patch: TypeAlias = "Callable[[Mapping[str, Any], dict[str, Any], PatchedType | None, Patience | None], dict[str, Any]]"


class PolicyMutator:
    """Compiled expressions of one policy. `patches` are its mutations, in order.

    Raises:
        CompileFailed: A variable does not compile. The validation of the policy rejects these.
    """

    #: What a patch raises if it cannot be evaluated or applied.
    failures = (ExpressionFailed, MutationFailed, OutOfBudget)

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._compiler = CompositedCompiler(spec, has_patch_types=True)
        self.patches: list[_Patch] = [self._patch_of(each) for each in spec.get("mutations") or ()]

    def matches(self, context: Mapping[str, Any], patience: Patience | None = None) -> bool:
        """Return whether the match conditions hold.

        Raises:
            MatchConditionsFailed: The evaluation of some conditions failed, and none is false.
            LongEvaluation: It costs more than the patience.
        """
        return self._compiler.matches(context, patience)

    def _patch_of(self, mutation: Mapping[str, Any]) -> _Patch:
        is_json = mutation["patchType"] == "JSONPatch"
        text = mutation["jsonPatch" if is_json else "applyConfiguration"]["expression"]
        apply = apply_json_patch_value if is_json else _apply_decodable

        def patch(
            context: Mapping[str, Any],
            obj: dict[str, Any],
            kind: PatchedType | None,
            patience: Patience | None = None,
        ) -> dict[str, Any]:
            return apply(self._evaluate(text, context, patience), obj, kind)

        return patch

    def _evaluate(self, text: str, context: Mapping[str, Any], patience: Patience | None) -> Any:
        return self._compiler.evaluate(text, self._compiler.activation(context, patience), CostBudget(RUNTIME_BUDGET))


def _apply_decodable(value: Any, obj: dict[str, Any], kind: PatchedType | None) -> dict[str, Any]:
    new = apply_configuration(value, obj, kind)
    if kind is not None:
        decode_configured(new, kind)
    return new
