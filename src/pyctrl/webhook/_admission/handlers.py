"""Base classes of user code: a defaulter sets defaults, a validator accepts or rejects objects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from typing import Generic, TypeAlias, TypeVar

from pyctrl.api import KubernetesObject, Unstructured
from pyctrl.webhook._admission.admission import AdmissionRequest, Operation

__all__ = ["Defaulter", "Validator", "Warnings"]

T = TypeVar("T", bound=KubernetesObject | Unstructured)

#: Warnings that the user's client shows: none, one message, or several.
Warnings: TypeAlias = str | Sequence[str] | None


class Defaulter(ABC, Generic[T]):
    """Sets defaults of objects before they are validated and stored: a mutating webhook.

        class PodSetWebhook(Defaulter[PodSet]):
            def default(self, obj: PodSet, request: AdmissionRequest) -> None:
                obj.spec.image = obj.spec.image or "nginx"

    It is called for creations and updates. The JSON patch is computed from its changes; fields that the class does not
    name, nulls and equivalent spellings stay as the user wrote them. It may be called twice for one write, so it must
    be idempotent.
    """

    @abstractmethod
    def default(self, obj: T, request: AdmissionRequest, /) -> T | Awaitable[T | None] | None:
        """Change the object in place, or return another. May be ``async``, and may reject it as a `Validator` does."""


class Validator(ABC, Generic[T]):
    """Accepts or rejects writes: a validating webhook. Override the methods of the operations to validate.

        class PodSetWebhook(Validator[PodSet]):
            def validate_update(self, old: PodSet, new: PodSet, request: AdmissionRequest) -> Warnings:
                if new.spec.size < old.spec.size:
                    raise Rejected(FieldError.invalid("spec.size", new.spec.size, "must not shrink"))
                return "it will take a while" if new.spec.size > 100 else None

    A method returns warnings, or None. To reject the object it raises `Rejected` (422, with causes by field) or
    `Denied` (403). An `ApiError`, for example of a read, is returned to the user with its own code. Any other exception
    is a bug: it is logged, and the user gets a 500. The objects belong to the method; changing them has no effect.
    Methods may be ``async``.
    """

    def validate_create(self, obj: T, request: AdmissionRequest, /) -> Warnings | Awaitable[Warnings]:
        """Validate the creation of an object."""
        return None

    def validate_update(self, old: T, new: T, request: AdmissionRequest, /) -> Warnings | Awaitable[Warnings]:
        """Validate an update, given the stored and the new object."""
        return None

    def validate_delete(self, obj: T, request: AdmissionRequest, /) -> Warnings | Awaitable[Warnings]:
        """Validate the deletion of an object."""
        return None


def operations_of(handler: object) -> tuple[Operation, ...]:
    """Return the operations that a validator validates: those whose method it overrides."""
    methods = {
        Operation.CREATE: "validate_create",
        Operation.UPDATE: "validate_update",
        Operation.DELETE: "validate_delete",
    }
    return tuple(
        operation for operation, name in methods.items() if getattr(type(handler), name) is not getattr(Validator, name)
    )
