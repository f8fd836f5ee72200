"""Approval of definitions in the groups of the Kubernetes project, which an annotation states.

The states, reasons and messages are those of `GetAPIApprovalState` in apiextensions-apiserver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from urllib.parse import urlsplit

from pyctrl._go.text import quoted
from pyctrl.apiserver._errors import FieldError, invalid_value, required
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["approval_condition", "validate_approval"]

_ANNOTATION = "api-approved.kubernetes.io"
_FIELD = f"metadata.annotations[{_ANNOTATION}]"
_POLICY = "see https://github.com/kubernetes/enhancements/pull/1111"


class _ApprovalState(Enum):
    """The state of an approval; the values are the reasons of the condition."""

    APPROVED = "ApprovedAnnotation"
    BYPASSED = "UnapprovedAnnotation"
    INVALID = "InvalidAnnotation"
    MISSING = "MissingAnnotation"


def validate_approval(new: Mapping[str, JSON], old: Mapping[str, JSON] | None) -> Iterator[FieldError]:
    """Require the annotation in protected groups. An update that leaves its state as it is has no error."""
    if not _is_protected(new):
        return
    state = _state(new)
    if old is not None and _state(old) is state:
        return
    if state is _ApprovalState.MISSING:
        yield required(_FIELD, _message(new, state))
    elif state is _ApprovalState.INVALID:
        yield invalid_value(_FIELD, _annotation(new), _message(new, state))


def approval_condition(definition: Mapping[str, JSON]) -> tuple[str, str, str] | None:
    """Return status, reason and message of the condition KubernetesAPIApprovalPolicyConformant.

    Definitions of other groups do not have it.
    """
    if not _is_protected(definition):
        return None
    state = _state(definition)
    return "True" if state is _ApprovalState.APPROVED else "False", state.value, _message(definition, state)


def _is_protected(definition: Mapping[str, JSON]) -> bool:
    group = str(definition["spec"].get("group", ""))
    return group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))


def _annotation(definition: Mapping[str, JSON]) -> str:
    text: str = (definition["metadata"].get("annotations") or {}).get(_ANNOTATION, "")
    return text


def _state(definition: Mapping[str, JSON]) -> _ApprovalState:
    text = _annotation(definition)
    if not text:
        return _ApprovalState.MISSING
    if text.startswith("unapproved"):
        return _ApprovalState.BYPASSED
    return _ApprovalState.APPROVED if _is_url(text) else _ApprovalState.INVALID


def _is_url(text: str) -> bool:
    try:
        url = urlsplit(text)
    except ValueError:
        return False
    return bool(url.scheme and url.netloc)


def _message(definition: Mapping[str, JSON], state: _ApprovalState) -> str:
    text = _annotation(definition)
    if state is _ApprovalState.APPROVED:
        return f"approved in {text}"
    if state is _ApprovalState.BYPASSED:
        return f"not approved: {quoted(text)}"
    form = ' with either a URL or a reason starting with "unapproved"' if state is _ApprovalState.INVALID else ""
    return f"protected groups must have approval annotation {quoted(_ANNOTATION)}{form}, {_POLICY}"
