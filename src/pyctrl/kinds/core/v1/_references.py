# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""Some kinds of core/v1 and their parts."""

from pyctrl.kinds._builtin import Part

__all__ = ["LocalObjectReference", "ObjectReference", "SecretReference", "TypedLocalObjectReference"]

__name__ = "pyctrl.kinds.core.v1"  # the module that the classes report


class LocalObjectReference(Part):
    """LocalObjectReference contains enough information to let you locate the referenced object inside the same
    namespace.
    """

    name: str = ""
    """Name of the referent. This field is effectively required, but due to backwards compatibility is allowed to be
    empty. Instances of this type with an empty value here are almost certainly wrong. More info:
    https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names
    """


class ObjectReference(Part):
    """ObjectReference contains enough information to let you inspect or modify the referred object."""

    api_version: str | None = None
    """API version of the referent."""
    field_path: str | None = None
    """If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go
    field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is
    to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to
    the name of the container that triggered the event) or if no container name is specified "spec.containers[2]"
    (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing
    a part of an object.
    """
    kind: str | None = None
    """Kind of the referent. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
    """
    name: str | None = None
    """Name of the referent. More info:
    https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names
    """
    namespace: str | None = None
    """Namespace of the referent. More info:
    https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
    """
    resource_version: str | None = None
    """Specific resourceVersion to which this reference is made, if any. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#concurrency-control-and-consistency
    """
    uid: str | None = None
    """UID of the referent. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#uids"""


class SecretReference(Part):
    """SecretReference represents a Secret Reference. It has enough information to retrieve secret in any namespace"""

    name: str | None = None
    """name is unique within a namespace to reference a secret resource."""
    namespace: str | None = None
    """namespace defines the space within which the secret name must be unique."""


class TypedLocalObjectReference(Part):
    """TypedLocalObjectReference contains enough information to let you locate the typed referenced object inside the
    same namespace.
    """

    api_group: str | None = None
    """APIGroup is the group for the resource being referenced. If APIGroup is not specified, the specified Kind must
    be in the core API group. For any other third-party types, APIGroup is required.
    """
    kind: str = ""
    """Kind is the type of resource being referenced"""
    name: str = ""
    """Name is the name of resource being referenced"""
