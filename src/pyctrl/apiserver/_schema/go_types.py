"""Facts of the built-in kinds' Go types that their OpenAPI documents do not have.

An optional field of the document is a pointer or a plain value in Go. The zero of a pointer (`replicas: 0`) is kept.
The zero of a plain value (`paused: false`, `message: ""`) is omitted. Times differ: both are optional in the document,
and a plain time is written as null. Entries are `Struct.field`, or `*.field` if all structs agree.
"""

from __future__ import annotations

__all__ = ["go_path", "is_always_written", "is_optional_time", "is_pointer", "named_text"]


_POINTERS = """
    *.optional *.controller *.blockOwnerDeletion *.immutable *.allowPrivilegeEscalation *.privileged
    *.readOnlyRootFilesystem *.runAsNonRoot *.automountServiceAccountToken *.enableServiceLinks *.hostUsers
    *.setHostnameAsFQDN *.shareProcessNamespace *.hostProcess *.allocateLoadBalancerNodePorts *.allowVolumeExpansion
    *.attachRequired *.podInfoOnMount *.requiresRepublish *.seLinuxMount *.storageCapacity *.suspend *.manualSelector
    *.started *.ready *.serving *.terminating *.orphanDependents *.optionalOldSelf *.adminAccess *.clusterScope
    *.preventPodSchedulingIfMissing *.serviceAccountTokenInSecrets *.userNamespaces *.recursiveReadOnlyMounts
    *.supplementalGroupsPolicy AzureDiskVolumeSource.readOnly CSIVolumeSource.readOnly DeviceAttribute.bool
    Device.allNodes Device.bindsToNode Device.allowMultipleAllocations ResourceSliceSpec.allNodes
    ResourceSliceSpec.perDeviceNodeSelection

    DeploymentSpec.replicas ReplicaSetSpec.replicas StatefulSetSpec.replicas ReplicationControllerSpec.replicas
    *.revisionHistoryLimit *.progressDeadlineSeconds *.collisionCount *.terminatingReplicas *.terminating
    *.successfulJobsHistoryLimit *.failedJobsHistoryLimit *.startingDeadlineSeconds *.activeDeadlineSeconds
    *.backoffLimit *.backoffLimitPerIndex *.completions *.maxFailedIndexes *.parallelism *.ttlSecondsAfterFinished
    *.defaultMode *.mode *.runAsUser *.runAsGroup *.fsGroup *.priority *.terminationGracePeriodSeconds
    *.tolerationSeconds *.minDomains *.expirationSeconds *.gracePeriodSeconds *.deletionGracePeriodSeconds
    *.partition FCVolumeSource.lun ClientIPConfig.timeoutSeconds MutatingWebhook.timeoutSeconds
    ValidatingWebhook.timeoutSeconds ServiceReference.port EndpointPort.port *.endPort *.minReplicas
    *.targetCPUUtilizationPercentage *.currentCPUUtilizationPercentage *.averageUtilization
    *.stabilizationWindowSeconds *.leaseDurationSeconds *.leaseTransitions *.succeededCount *.remainingItemCount
    *.maxItems *.maxLength *.maxProperties *.minItems *.minLength *.minProperties *.maximum *.minimum *.multipleOf
    *.lendablePercent *.borrowingLimitPercent ExemptPriorityLevelConfiguration.nominalConcurrencyShares
    LimitedPriorityLevelConfiguration.nominalConcurrencyShares *.start VolumeNodeResources.count *.errorCode
    NodeSwapStatus.capacity *.maxExpirationSeconds *.nodeAllocatableUpdatePeriodSeconds DeviceAttribute.int
    HorizontalPodAutoscalerStatus.observedGeneration GRPCAction.service JobStatus.ready

    *.storageClassName *.volumeAttributesClassName *.currentVolumeAttributesClassName *.volumeMode
    *.ingressClassName *.preemptionPolicy *.runtimeClassName *.localhostProfile *.fsGroupChangePolicy
    *.seLinuxChangePolicy *.mountPropagation *.recursiveReadOnly *.procMount *.timeZone *.completionMode *.managedBy
    *.podReplacementPolicy *.internalTrafficPolicy *.ipFamilyPolicy *.loadBalancerClass *.trafficDistribution
    *.holderIdentity *.preferredHolder LeaseSpec.strategy *.deprecationWarning *.labelSelectorPath
    *.unhealthyPodEvictionPolicy *.selectPolicy *.reclaimPolicy *.volumeBindingMode *.gmsaCredentialSpec
    *.gmsaCredentialSpecName *.runAsUserName *.nodeAffinityPolicy *.nodeTaintsPolicy *.hostnameOverride
    *.resourceClaimName *.resourceClaimTemplateName *.failurePolicy *.matchPolicy *.reinvocationPolicy
    *.parameterNotFoundAction *.fsGroupPolicy WebhookClientConfig.url ServiceReference.path
    RuleWithOperations.scope NamedRuleWithOperations.scope HostPathVolumeSource.type
    TypedLocalObjectReference.apiGroup TypedObjectReference.apiGroup TypedObjectReference.namespace
    IngressClassParametersReference.apiGroup IngressClassParametersReference.scope
    IngressClassParametersReference.namespace LoadBalancerIngress.ipMode PortStatus.error IngressPortStatus.error
    Endpoint.hostname Endpoint.nodeName Endpoint.zone EndpointAddress.nodeName ServicePort.appProtocol
    EndpointPort.appProtocol HTTPIngressPath.pathType Container.restartPolicy EphemeralContainer.restartPolicy
    PodDNSConfigOption.value Validation.reason NetworkPolicyPort.protocol JSONSchemaProps.x-kubernetes-list-type
    JSONSchemaProps.x-kubernetes-map-type JSONSchemaProps.$ref JSONSchemaProps.x-kubernetes-preserve-unknown-fields
    ValidationRule.reason PersistentVolumeClaimSpec.dataSource *.persistentVolumeName *.stopSignal *.failedIndexes
    """
POINTERS = frozenset(_POINTERS.split())

# String fields with a named Go type, which decoding errors show.
_NAMED = """
    PodSpec.restartPolicy:RestartPolicy PodSpec.dnsPolicy:DNSPolicy PodSpec.preemptionPolicy:PreemptionPolicy
    Container.imagePullPolicy:PullPolicy Container.terminationMessagePolicy:TerminationMessagePolicy
    Container.restartPolicy:ContainerRestartPolicy ContainerPort.protocol:Protocol ServicePort.protocol:Protocol
    EndpointPort.protocol:Protocol NetworkPolicyPort.protocol:Protocol HTTPGetAction.scheme:URIScheme
    Toleration.operator:TolerationOperator Toleration.effect:TaintEffect Taint.effect:TaintEffect
    NodeSelectorRequirement.operator:NodeSelectorOperator LabelSelectorRequirement.operator:LabelSelectorOperator
    ServiceSpec.type:ServiceType ServiceSpec.sessionAffinity:ServiceAffinity
    ServiceSpec.externalTrafficPolicy:ServiceExternalTrafficPolicy ServiceSpec.ipFamilyPolicy:IPFamilyPolicy
    ServiceSpec.internalTrafficPolicy:ServiceInternalTrafficPolicy Secret.type:SecretType
    PersistentVolumeClaimSpec.volumeMode:PersistentVolumeMode PersistentVolumeSpec.volumeMode:PersistentVolumeMode
    PersistentVolumeSpec.persistentVolumeReclaimPolicy:PersistentVolumeReclaimPolicy
    DeploymentStrategy.type:DeploymentStrategyType DaemonSetUpdateStrategy.type:DaemonSetUpdateStrategyType
    StatefulSetUpdateStrategy.type:StatefulSetUpdateStrategyType
    StatefulSetSpec.podManagementPolicy:PodManagementPolicyType CronJobSpec.concurrencyPolicy:ConcurrencyPolicy
    JobSpec.completionMode:CompletionMode PodStatus.phase:PodPhase PodStatus.qosClass:PodQOSClass
    PodCondition.type:PodConditionType PodCondition.status:ConditionStatus NodeCondition.type:NodeConditionType
    NodeCondition.status:ConditionStatus DeploymentCondition.status:ConditionStatus NamespaceStatus.phase:NamespacePhase
    DeploymentCondition.type:DeploymentConditionType Condition.status:ConditionStatus LimitRangeItem.type:LimitType
    HTTPIngressPath.pathType:PathType CustomResourceDefinitionSpec.scope:ResourceScope
    CustomResourceConversion.strategy:ConversionStrategyType EndpointSlice.addressType:AddressType
    """
NAMED = dict(each.split(":") for each in _NAMED.split())

# Fields that are optional in the document but written if zero.
_ALWAYS_WRITTEN = """
    apps.v1.StatefulSetStatus.availableReplicas autoscaling.v2.HorizontalPodAutoscalerStatus.currentMetrics
    apiextensions.v1.CustomResourceDefinitionStatus.conditions
    apiextensions.v1.CustomResourceDefinitionStatus.storedVersions
    rbac.v1.Role.rules rbac.v1.ClusterRole.rules core.v1.Event.reportingComponent core.v1.Event.reportingInstance
    policy.v1.PodDisruptionBudgetStatus.currentHealthy policy.v1.PodDisruptionBudgetStatus.desiredHealthy
    policy.v1.PodDisruptionBudgetStatus.disruptionsAllowed policy.v1.PodDisruptionBudgetStatus.expectedPods
    rbac.v1.ClusterRole.rules rbac.v1.Role.rules
    """
ALWAYS_WRITTEN = frozenset(_ALWAYS_WRITTEN.split())

_OPTIONAL_TIMES = """
    AllocationResult.allocationTimestamp CronJobStatus.lastScheduleTime CronJobStatus.lastSuccessfulTime
    DeviceTaint.timeAdded HorizontalPodAutoscalerStatus.lastScaleTime JobStatus.completionTime JobStatus.startTime
    LeaseSpec.acquireTime LeaseSpec.renewTime ManagedFieldsEntry.time ObjectMeta.creationTimestamp
    ObjectMeta.deletionTimestamp PersistentVolumeStatus.lastPhaseTransitionTime PodStatus.startTime Taint.timeAdded
    """
OPTIONAL_TIMES = frozenset(_OPTIONAL_TIMES.split())


# Structs that embed another one, which decoding errors name: the fields of the embedded struct, or, after a `-`, all
# fields but those.
_EMBEDDED = {
    "ConfigMapEnvSource": "LocalObjectReference:name",
    "ConfigMapKeySelector": "LocalObjectReference:name",
    "ConfigMapProjection": "LocalObjectReference:name",
    "ConfigMapVolumeSource": "LocalObjectReference:name",
    "DeviceAllocationConfiguration": "DeviceConfiguration:opaque",
    "DeviceClaimConfiguration": "DeviceConfiguration:opaque",
    "DeviceClassConfiguration": "DeviceConfiguration:opaque",
    "EphemeralContainer": "EphemeralContainerCommon:-targetContainerName",
    "IngressRule": "IngressRuleValue:http",
    "NamedRuleWithOperations": "RuleWithOperations.Rule:-operations resourceNames;RuleWithOperations:operations",
    "PersistentVolumeSpec": "PersistentVolumeSource:-accessModes capacity claimRef mountOptions nodeAffinity "
    "persistentVolumeReclaimPolicy storageClassName volumeAttributesClassName volumeMode",
    "Probe": "ProbeHandler:exec httpGet tcpSocket grpc",
    "RuleWithOperations": "Rule:-operations",
    "SecretEnvSource": "LocalObjectReference:name",
    "SecretKeySelector": "LocalObjectReference:name",
    "SecretProjection": "LocalObjectReference:name",
    "Volume": "VolumeSource:-name",
}


def go_path(struct: str, field: str) -> str:
    """Return a field with the embedded structs above it, as decoding errors have it."""
    for each in _EMBEDDED.get(struct, "").split(";"):
        embedded, _, fields = each.partition(":")
        is_all_but = fields.startswith("-")
        if embedded and (field in fields.removeprefix("-").split()) != is_all_but:
            return f"{embedded}.{field}"
    return field


def is_pointer(struct: str, field: str) -> bool:
    """Return whether a field is a pointer, whose zero is kept."""
    return f"*.{field}" in POINTERS or f"{struct}.{field}" in POINTERS


def named_text(struct: str, field: str) -> str:
    """Return the Go type of a string field."""
    if field == "uid":
        return "types.UID"
    name = NAMED.get(f"{struct}.{field}")
    return f"v1.{name}" if name else "string"


def is_optional_time(struct: str, field: str) -> bool:
    """Return whether an absent time is omitted; others are written as null."""
    return f"{struct}.{field}" in OPTIONAL_TIMES


def is_always_written(component: str, field: str) -> bool:
    """Return whether Go writes a field's zero although it is optional in the document."""
    return f"{'.'.join(component.split('.')[-3:])}.{field}" in ALWAYS_WRITTEN
