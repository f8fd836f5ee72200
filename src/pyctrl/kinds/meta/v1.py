# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of meta/v1 and their parts."""

from pydantic import Field

from pyctrl.kinds._builtin import Part

__all__ = ["DeleteOptions", "FieldSelectorRequirement", "LabelSelector", "LabelSelectorRequirement", "Preconditions"]


class Preconditions(Part):
    """`preconditions` of DeleteOptions."""

    resource_version: str | None = None
    uid: str | None = None


class DeleteOptions(Part):
    """`delete_options` of Eviction."""

    api_version: str | None = None
    dry_run: list[str] = Field(default_factory=list)
    grace_period_seconds: int | None = None
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = None
    kind: str | None = None
    orphan_dependents: bool | None = None
    preconditions: Preconditions | None = None
    propagation_policy: str | None = None


class FieldSelectorRequirement(Part):
    """`requirements` of FieldSelectorAttributes."""

    key: str = ""
    operator: str = ""
    values: list[str] = Field(default_factory=list)


class LabelSelectorRequirement(Part):
    """`match_expressions` of LabelSelector, `requirements` of LabelSelectorAttributes."""

    key: str = ""
    operator: str = ""
    values: list[str] = Field(default_factory=list)


class LabelSelector(Part):
    """`cluster_role_selectors` of AggregationRule, `node_topology` of CSIStorageCapacity, `label_selector` of ClusterTrustBundleProjection, …"""

    match_expressions: list[LabelSelectorRequirement] = Field(default_factory=list)
    match_labels: dict[str, str] = Field(default_factory=dict)
