"""Names of kube-apiserver's admission plugins, in the order in which they run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, TypeAlias, get_args

from pyctrl._go.text import quoted

__all__ = ["IN_ORDER", "AdmissionPluginName", "enabled_plugins"]


#: kube-apiserver's names of admission plugins. They run in this order, whatever the order in which they are enabled.
AdmissionPluginName: TypeAlias = Literal[
    "AlwaysAdmit",
    "NamespaceAutoProvision",
    "NamespaceLifecycle",
    "NamespaceExists",
    "LimitPodHardAntiAffinityTopology",
    "LimitRanger",
    "ServiceAccount",
    "NodeRestriction",
    "TaintNodesByCondition",
    "AlwaysPullImages",
    "ImagePolicyWebhook",
    "PodSecurity",
    "PodNodeSelector",
    "Priority",
    "DefaultTolerationSeconds",
    "PodTolerationRestriction",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "PodGroupProtection",
    "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateApproval",
    "CertificateSigning",
    "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "DenyServiceExternalIPs",
    "PodTopologyLabels",
    "PodGroupWorkloadExists",
    "NodeDeclaredFeatureValidator",
    "JobValidation",
    "PodResizeValidator",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "ResourceQuota",
    "AlwaysDeny",
]

IN_ORDER: Final[tuple[str, ...]] = get_args(AdmissionPluginName)

_OFF: Final = frozenset(
    (
        "AlwaysAdmit",
        "NamespaceAutoProvision",
        "NamespaceExists",
        "LimitPodHardAntiAffinityTopology",
        "NodeRestriction",
        "AlwaysPullImages",
        "ImagePolicyWebhook",
        "PodNodeSelector",
        "PodTolerationRestriction",
        "EventRateLimit",
        "ExtendedResourceToleration",
        "OwnerReferencesPermissionEnforcement",
        "DenyServiceExternalIPs",
        "AlwaysDeny",
        # kube-apiserver enables it. It needs the service account `default`, which a server without controllers lacks;
        # envtest disables it for this reason.
        "ServiceAccount",
    )
)


def enabled_plugins(enable: Collection[str] = (), disable: Collection[str] = ()) -> frozenset[str]:
    """Return the plugins that are enabled: the default ones and `enable`, without `disable`.

    Raises:
        ValueError: A plugin is unknown, or is both enabled and disabled.
    """
    for flag, names in (("enable-admission-plugins", enable), ("disable-admission-plugins", disable)):
        for name in names:
            if name not in IN_ORDER:
                raise ValueError(f"{flag} plugin {quoted(name)} is unknown")
    if both := [name for name in IN_ORDER if name in enable and name in disable]:
        raise ValueError(
            f"[{' '.join(sorted(both))}] in enable-admission-plugins and disable-admission-plugins overlapped"
        )
    return frozenset(name for name in IN_ORDER if (name not in _OFF or name in enable) and name not in disable)
