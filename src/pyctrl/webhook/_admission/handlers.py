"""What users write: a defaulter that completes objects, a validator that refuses them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from typing import Generic, TypeAlias, TypeVar

from pyctrl.api import KubernetesObject, Unstructured
from pyctrl.webhook._admission.admission import AdmissionRequest, Operation

__all__ = ["Defaulter", "Validator", "Warnings"]

T = TypeVar("T", bound=KubernetesObject | Unstructured)

#: What the user's client shows beside the answer: nothing, one sentence, or several.
Warnings: TypeAlias = str | Sequence[str] | None


class Defaulter(ABC, Generic[T]):
    """Completes objects before they are validated and stored: the mutating half of admission.

        class PodSetWebhook(Defaulter[PodSet]):
            def default(self, obj: PodSet, request: AdmissionRequest) -> None:
                obj.spec.image = obj.spec.image or "nginx"

    It is asked about creations and updates. The JSON patch is computed from what it changed; fields that the class
    does not know, nulls and spellings that mean the same stay as the user wrote them. It may be asked twice about one
    write, so it must make the same of what it made already.
    """

    @abstractmethod
    def default(self, obj: T, request: AdmissionRequest) -> T | Awaitable[T | None] | None:
        """Change the object in place, or return another. May be ``async``, and may refuse as a `Validator` does."""


class Validator(ABC, Generic[T]):
    """Allows writes or refuses them: the validating half of admission. Override what you want to be asked about.

        class PodSetWebhook(Validator[PodSet]):
            def validate_update(self, old: PodSet, new: PodSet, request: AdmissionRequest) -> Warnings:
                if new.spec.size < old.spec.size:
                    raise Rejected(FieldError.invalid("spec.size", new.spec.size, "must not shrink"))
                return "it will take a while" if new.spec.size > 100 else None

    What a method returns are warnings. To refuse it raises `Rejected` (422, with causes by field) or `Denied` (403);
    an `ApiError`, of a read say, is passed on to the user with its own code. Any other exception is a bug: it is
    logged, and the user is answered 500. The objects are the method's own; changing them changes nothing. Methods may
    be ``async``.
    """

    def validate_create(self, obj: T, request: AdmissionRequest) -> Warnings | Awaitable[Warnings]:
        """Look at an object that is about to be created."""
        return None

    def validate_update(self, old: T, new: T, request: AdmissionRequest) -> Warnings | Awaitable[Warnings]:
        """Look at an object as it is, and as it is about to be."""
        return None

    def validate_delete(self, obj: T, request: AdmissionRequest) -> Warnings | Awaitable[Warnings]:
        """Look at an object that is about to be deleted."""
        return None


def operations_of(handler: object) -> tuple[Operation, ...]:
    """Return what a validator wants to be asked about: what it has methods of its own for."""
    methods = {
        Operation.CREATE: "validate_create",
        Operation.UPDATE: "validate_update",
        Operation.DELETE: "validate_delete",
    }
    return tuple(
        operation for operation, name in methods.items() if getattr(type(handler), name) is not getattr(Validator, name)
    )
