# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""Some kinds of core/v1 and their parts."""

from pyctrl.kinds._builtin import Part

__all__ = ["LocalObjectReference", "ObjectReference", "SecretReference", "TypedLocalObjectReference"]

__name__ = "pyctrl.kinds.core.v1"  # the module that the classes report


class LocalObjectReference(Part):
    """`node_publish_secret_ref` of CSIVolumeSource, `secret_ref` of CephFSVolumeSource, `secret_ref` of CinderVolumeSource, …"""

    name: str = ""


class ObjectReference(Part):
    """`target` of Binding, `active` of CronJobStatus, `target_ref` of Endpoint, …"""

    api_version: str | None = None
    field_path: str | None = None
    kind: str | None = None
    name: str | None = None
    namespace: str | None = None
    resource_version: str | None = None
    uid: str | None = None


class SecretReference(Part):
    """`controller_expand_secret_ref` of CSIPersistentVolumeSource, `controller_publish_secret_ref` of CSIPersistentVolumeSource, `node_expand_secret_ref` of CSIPersistentVolumeSource, …"""

    name: str | None = None
    namespace: str | None = None


class TypedLocalObjectReference(Part):
    """`resource` of IngressBackend, `data_source` of PersistentVolumeClaimSpec."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""
