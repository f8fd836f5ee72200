"""What a request has read, for people: logs, metrics and views."""

from __future__ import annotations

from dataclasses import dataclass

from pyctrl.api import GroupVersionKind
from pyctrl.cache import Informer, ListQuery

__all__ = ["ReadView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadView:
    """Something that a reconcile has read: an object, or a list of objects.

    Attributes:
        kind: the kind of the object or objects.
        cluster: the cluster that was read; "" for that of the manager.
        namespace: the namespace; None for a list of all namespaces, "" for cluster-scoped kinds.
        name: the name of an object; None for a list.
        labels: the label selector of a list.
        fields: the field selector of a list.
        index: the index and the value of a list that was selected by an index.
    """

    kind: GroupVersionKind
    cluster: str = ""
    namespace: str | None = None
    name: str | None = None
    labels: str = ""
    fields: str = ""
    index: tuple[str, str] | None = None

    @classmethod
    def of_list(cls, informer: Informer, query: ListQuery, index: tuple[str, str] | None) -> ReadView:
        """Return the view of a list."""
        return cls(
            kind=informer.gvk,
            cluster=informer.cluster,
            namespace=query.namespace,
            labels=str(query.labels),
            fields=str(query.fields),
            index=index,
        )

    def __str__(self) -> str:
        """Return ``Secret default/db``, or ``list of Secret in namespace default, labels app=web``."""
        where = f" in cluster {self.cluster}" if self.cluster else ""
        if self.name is not None:
            path = f"{self.namespace}/{self.name}" if self.namespace else self.name
            return f"{self.kind.kind} {path}{where}"
        parts = ["in all namespaces" if self.namespace is None else f"in namespace {self.namespace}"]
        parts += [f"labels {self.labels}"] if self.labels else []
        parts += [f"fields {self.fields}"] if self.fields else []
        parts += [f"index {self.index[0]}={self.index[1]}"] if self.index else []
        return f"list of {self.kind.kind} {', '.join(parts)}{where}"
