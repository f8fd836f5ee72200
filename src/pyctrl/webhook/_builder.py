"""Builder of the admission webhooks of a kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, cast

from typing_extensions import TypeVar

from pyctrl.api import GroupVersionKind, Kind, KubernetesObject, Unstructured, kind_of
from pyctrl.errors import BuilderError, NotRegistered
from pyctrl.webhook._admission.admission import Operation
from pyctrl.webhook._admission.handlers import Defaulter, Validator, operations_of
from pyctrl.webhook._admission.typed import defaulting, validating
from pyctrl.webhook._configuration import FailurePolicy, Registration
from pyctrl.webhook._webhooks import Webhooks, path_of

__all__ = ["WebhookBuilder"]

T = TypeVar("T", bound=KubernetesObject | Unstructured, default=Any)
K = TypeVar("K", bound=KubernetesObject | Unstructured)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    mutate_path: str | None = None
    validate_path: str | None = None
    plural: str | None = None
    cluster_scoped: bool | None = None
    shared: Mapping[str, Any]


class WebhookBuilder(Generic[T]):
    """Builds the webhooks of one kind and adds them to the program's.

        WebhookBuilder(webhooks).admits(PodSet).options(failure_policy="Ignore").build(PodSetWebhook())

    A `Defaulter` is served at ``/mutate-GROUP-VERSION-KIND`` and a `Validator` at ``/validate-…``, as in
    controller-runtime. One class may be both. Nothing is added before `build`.
    """

    def __init__(self, webhooks: Webhooks) -> None:
        self._webhooks = webhooks
        self._kind: type[KubernetesObject] | GroupVersionKind | None = None
        self._options = _Options(shared={})

    def admits(self, kind: Kind[K]) -> WebhookBuilder[K]:
        """Set the kind. Writes of its other versions are reviewed too, converted to this one.

        Raises:
            BuilderError: a kind was set before, or the argument is not a kind.
        """
        try:
            gvk = kind_of(kind)
        except NotRegistered as error:
            raise BuilderError(
                f"admits() takes a kind: a class with group= and version=, or a GroupVersionKind; got {kind!r}"
            ) from error
        if self._kind is not None:
            raise BuilderError(
                f"admits() was called twice, with {kind_of(self._kind)} and {gvk}; use one builder for each kind"
            )
        if isinstance(kind, type) and not issubclass(kind, KubernetesObject):
            raise BuilderError(
                f"a webhook cannot admit the kubernetes_asyncio model {kind.__name__}: "
                f"use the class {gvk.kind} of pyctrl.kinds, or the GroupVersionKind"
            )
        self._kind = cast("type[KubernetesObject] | GroupVersionKind", kind)
        return cast(WebhookBuilder[K], self)

    def options(
        self,
        *,
        failure_policy: FailurePolicy | None = None,
        timeout_seconds: int | None = None,
        reinvocation_policy: Literal["Never", "IfNeeded"] | None = None,
        namespace_selector: Mapping[str, Any] | None = None,
        object_selector: Mapping[str, Any] | None = None,
        match_conditions: Iterable[Mapping[str, str]] | None = None,
        mutate_path: str | None = None,
        validate_path: str | None = None,
        plural: str | None = None,
        cluster_scoped: bool | None = None,
    ) -> WebhookBuilder[T]:
        """Set options; `Registration` documents their meaning and defaults.

        ``plural`` and ``cluster_scoped`` are for kinds without a class.
        """
        given: dict[str, Any] = {
            "failure_policy": failure_policy,
            "timeout_seconds": timeout_seconds,
            "reinvocation_policy": reinvocation_policy,
            "namespace_selector": namespace_selector,
            "object_selector": object_selector,
            "match_conditions": None if match_conditions is None else tuple(match_conditions),
        }
        shared = {name: value for name, value in given.items() if value is not None}
        self._options = replace(
            self._options,
            mutate_path=mutate_path or self._options.mutate_path,
            validate_path=validate_path or self._options.validate_path,
            plural=plural or self._options.plural,
            cluster_scoped=self._options.cluster_scoped if cluster_scoped is None else cluster_scoped,
            shared={**self._options.shared, **shared},
        )
        return self

    def build(self, handler: Defaulter[T] | Validator[T]) -> tuple[Registration, ...]:
        """Add the webhooks and return their registrations.

        Raises:
            BuilderError: something is missing or contradictory, or a path is taken.
        """
        if self._kind is None:
            raise BuilderError("a webhook needs a kind: call admits(kind)")
        made = []
        if isinstance(handler, Defaulter):
            path = self._options.mutate_path or path_of(self._kind, "mutate")
            operations = (Operation.CREATE, Operation.UPDATE)
            made.append(self._registration(self._kind, "mutating", path, operations))
            self._webhooks.register(made[-1], defaulting(self._kind, handler))
        if isinstance(handler, Validator):
            path = self._options.validate_path or path_of(self._kind, "validate")
            made.append(self._registration(self._kind, "validating", path, _asked_about(handler)))
            self._webhooks.register(made[-1], validating(self._kind, handler))
        if not made:
            raise BuilderError(f"build() takes an instance of a Defaulter, a Validator, or both; got {handler!r}")
        return tuple(made)

    def _registration(
        self,
        kind: type[KubernetesObject] | GroupVersionKind,
        type_: Literal["mutating", "validating"],
        path: str,
        operations: tuple[Operation, ...],
    ) -> Registration:
        plural, namespaced = self._resource(kind)
        return Registration(
            type=type_,
            kind=kind_of(kind),
            plural=plural,
            namespaced=namespaced,
            path=path,
            operations=operations,
            object_class=kind if isinstance(kind, type) else None,
            **self._options.shared,
        )

    def _resource(self, kind: type[KubernetesObject] | GroupVersionKind) -> tuple[str, bool]:
        if isinstance(kind, GroupVersionKind):
            if not self._options.plural:
                raise BuilderError(f"{kind} has no class to take its resource from: call options(plural=...)")
            return self._options.plural, not self._options.cluster_scoped
        return kind.resource.plural, kind.resource.namespaced


def _asked_about(validator: Validator[Any]) -> tuple[Operation, ...]:
    operations = operations_of(validator)
    if not operations:
        raise BuilderError(
            f"{type(validator).__name__} validates no operation: "
            "override validate_create, validate_update or validate_delete"
        )
    return operations
