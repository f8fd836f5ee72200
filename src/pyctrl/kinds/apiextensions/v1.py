# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of apiextensions/v1 and their parts."""

from typing import Any

from pydantic import Field

from pyctrl.api import Time
from pyctrl.kinds._builtin import Kind, Part

__all__ = [
    "CustomResourceColumnDefinition",
    "CustomResourceConversion",
    "CustomResourceDefinition",
    "CustomResourceDefinitionCondition",
    "CustomResourceDefinitionNames",
    "CustomResourceDefinitionSpec",
    "CustomResourceDefinitionStatus",
    "CustomResourceDefinitionVersion",
    "CustomResourceSubresourceScale",
    "CustomResourceSubresourceStatus",
    "CustomResourceSubresources",
    "CustomResourceValidation",
    "ExternalDocumentation",
    "JSONSchemaProps",
    "SelectableField",
    "ServiceReference",
    "ValidationRule",
    "WebhookClientConfig",
    "WebhookConversion",
]


class CustomResourceColumnDefinition(Part):
    """`additional_printer_columns` of CustomResourceDefinitionVersion."""

    description: str | None = None
    format: str | None = None
    json_path: str = ""
    name: str = ""
    priority: int | None = None
    type: str = ""


class ServiceReference(Part):
    """`service` of WebhookClientConfig."""

    name: str = ""
    namespace: str = ""
    path: str | None = None
    port: int | None = None


class WebhookClientConfig(Part):
    """`client_config` of WebhookConversion."""

    ca_bundle: str | None = None
    service: ServiceReference | None = None
    url: str | None = None


class WebhookConversion(Part):
    """`webhook` of CustomResourceConversion."""

    client_config: WebhookClientConfig | None = None
    conversion_review_versions: list[str] = Field(default_factory=list)


class CustomResourceConversion(Part):
    """`conversion` of CustomResourceDefinitionSpec."""

    strategy: str = ""
    webhook: WebhookConversion | None = None


class CustomResourceDefinitionNames(Part):
    """`names` of CustomResourceDefinitionSpec, `accepted_names` of CustomResourceDefinitionStatus."""

    categories: list[str] = Field(default_factory=list)
    kind: str = ""
    list_kind: str | None = None
    plural: str = ""
    short_names: list[str] = Field(default_factory=list)
    singular: str | None = None


class CustomResourceSubresourceScale(Part):
    """`scale` of CustomResourceSubresources."""

    label_selector_path: str | None = None
    spec_replicas_path: str = ""
    status_replicas_path: str = ""


class CustomResourceSubresourceStatus(Part):
    """`status` of CustomResourceSubresources."""


class CustomResourceSubresources(Part):
    """`subresources` of CustomResourceDefinitionVersion."""

    scale: CustomResourceSubresourceScale | None = None
    status: CustomResourceSubresourceStatus | None = None


class ExternalDocumentation(Part):
    """`external_docs` of JSONSchemaProps."""

    description: str | None = None
    url: str | None = None


class ValidationRule(Part):
    """`x_kubernetes_validations` of JSONSchemaProps."""

    field_path: str | None = None
    message: str | None = None
    message_expression: str | None = None
    optional_old_self: bool | None = None
    reason: str | None = None
    rule: str = ""


class JSONSchemaProps(Part):
    """`open_api_v3_schema` of CustomResourceValidation, `additional_items` of JSONSchemaProps, `additional_properties` of JSONSchemaProps, …"""

    ref: str | None = Field(default=None, validation_alias="$ref", serialization_alias="$ref")
    schema_: str | None = Field(default=None, validation_alias="$schema", serialization_alias="$schema")
    additional_items: "JSONSchemaProps | bool | None" = None
    additional_properties: "JSONSchemaProps | bool | None" = None
    all_of: "list[JSONSchemaProps]" = Field(default_factory=list)
    any_of: "list[JSONSchemaProps]" = Field(default_factory=list)
    default: Any = None
    definitions: "dict[str, JSONSchemaProps]" = Field(default_factory=dict)
    dependencies: "dict[str, JSONSchemaProps | list[str]]" = Field(default_factory=dict)
    description: str | None = None
    enum: list[Any] = Field(default_factory=list)
    example: Any = None
    exclusive_maximum: bool | None = None
    exclusive_minimum: bool | None = None
    external_docs: ExternalDocumentation | None = None
    format: str | None = None
    id: str | None = None
    items: "JSONSchemaProps | list[JSONSchemaProps] | None" = None
    max_items: int | None = None
    max_length: int | None = None
    max_properties: int | None = None
    maximum: float | None = None
    min_items: int | None = None
    min_length: int | None = None
    min_properties: int | None = None
    minimum: float | None = None
    multiple_of: float | None = None
    not_: "JSONSchemaProps | None" = Field(default=None, validation_alias="not", serialization_alias="not")
    nullable: bool | None = None
    one_of: "list[JSONSchemaProps]" = Field(default_factory=list)
    pattern: str | None = None
    pattern_properties: "dict[str, JSONSchemaProps]" = Field(default_factory=dict)
    properties: "dict[str, JSONSchemaProps]" = Field(default_factory=dict)
    required: list[str] = Field(default_factory=list)
    title: str | None = None
    type: str | None = None
    unique_items: bool | None = None
    x_kubernetes_embedded_resource: bool | None = Field(
        default=None,
        validation_alias="x-kubernetes-embedded-resource",
        serialization_alias="x-kubernetes-embedded-resource",
    )
    x_kubernetes_int_or_string: bool | None = Field(
        default=None, validation_alias="x-kubernetes-int-or-string", serialization_alias="x-kubernetes-int-or-string"
    )
    x_kubernetes_list_map_keys: list[str] = Field(
        default_factory=list,
        validation_alias="x-kubernetes-list-map-keys",
        serialization_alias="x-kubernetes-list-map-keys",
    )
    x_kubernetes_list_type: str | None = Field(
        default=None, validation_alias="x-kubernetes-list-type", serialization_alias="x-kubernetes-list-type"
    )
    x_kubernetes_map_type: str | None = Field(
        default=None, validation_alias="x-kubernetes-map-type", serialization_alias="x-kubernetes-map-type"
    )
    x_kubernetes_preserve_unknown_fields: bool | None = Field(
        default=None,
        validation_alias="x-kubernetes-preserve-unknown-fields",
        serialization_alias="x-kubernetes-preserve-unknown-fields",
    )
    x_kubernetes_validations: list[ValidationRule] = Field(
        default_factory=list,
        validation_alias="x-kubernetes-validations",
        serialization_alias="x-kubernetes-validations",
    )


class CustomResourceValidation(Part):
    """`schema_` of CustomResourceDefinitionVersion."""

    open_api_v3_schema: JSONSchemaProps | None = Field(
        default=None, validation_alias="openAPIV3Schema", serialization_alias="openAPIV3Schema"
    )


class SelectableField(Part):
    """`selectable_fields` of CustomResourceDefinitionVersion."""

    json_path: str = ""


class CustomResourceDefinitionVersion(Part):
    """`versions` of CustomResourceDefinitionSpec."""

    additional_printer_columns: list[CustomResourceColumnDefinition] = Field(default_factory=list)
    deprecated: bool | None = None
    deprecation_warning: str | None = None
    name: str = ""
    schema_: CustomResourceValidation | None = Field(
        default=None, validation_alias="schema", serialization_alias="schema"
    )
    selectable_fields: list[SelectableField] = Field(default_factory=list)
    served: bool = False
    storage: bool = False
    subresources: CustomResourceSubresources | None = None


class CustomResourceDefinitionSpec(Part):
    """`spec` of CustomResourceDefinition."""

    conversion: CustomResourceConversion | None = None
    group: str = ""
    names: CustomResourceDefinitionNames = Field(default_factory=CustomResourceDefinitionNames)
    preserve_unknown_fields: bool | None = None
    scope: str = ""
    versions: list[CustomResourceDefinitionVersion] = Field(default_factory=list)


class CustomResourceDefinitionCondition(Part):
    """`conditions` of CustomResourceDefinitionStatus."""

    last_transition_time: Time | None = None
    message: str | None = None
    observed_generation: int | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class CustomResourceDefinitionStatus(Part):
    """`status` of CustomResourceDefinition."""

    accepted_names: CustomResourceDefinitionNames = Field(default_factory=CustomResourceDefinitionNames)
    conditions: list[CustomResourceDefinitionCondition] = Field(default_factory=list)
    observed_generation: int | None = None
    stored_versions: list[str] = Field(default_factory=list)


class CustomResourceDefinition(
    Kind,
    group="apiextensions.k8s.io",
    version="v1",
    plural="customresourcedefinitions",
    scope="Cluster",
    short_names=(
        "crd",
        "crds",
    ),
    categories=("api-extensions",),
    subresources=("status",),
):
    """CustomResourceDefinition of apiextensions.k8s.io/v1."""

    spec: CustomResourceDefinitionSpec = Field(default_factory=CustomResourceDefinitionSpec)
    status: CustomResourceDefinitionStatus = Field(default_factory=CustomResourceDefinitionStatus)
