"""The pitfalls of the seeds, with the objects as their authors applied them."""

from __future__ import annotations

from typing import Any

import yaml

Object = dict[str, Any]

#: Result of `kubectl create serviceaccount jenkins`.
JENKINS = """
apiVersion: v1
kind: ServiceAccount
metadata:
  name: jenkins
  namespace: default
"""

SECRET = """
apiVersion: v1
kind: Secret
metadata:
  name: jenkins-secret
  annotations:
    kubernetes.io/service-account.name: jenkins
type: kubernetes.io/service-account-token
"""

ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  namespace: default
  name: evc-operator
rules:
- apiGroups: [""] # "" 标明 core API 组
  resources: ["*"]
  verbs: ["*"]
- apiGroups: ["kopf.dev"] # 我的crd的group
  resources: ["*"]
  verbs: ["*"]
"""

CLUSTER_ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  namespace: default
  name: evc-operator
rules:
- apiGroups: [""] # "" 标明 core API 组
  resources: ["*"]
  verbs: ["*"]
- apiGroups: ["kopf.dev"] # 我的crd的group
  resources: ["*"]
  verbs: ["*"]
- apiGroups: ["apiextensions.k8s.io"] #CRD所在的apiGroup的权限
  resources: ["*"]
  verbs: ["*"]
"""

#: Result of `kubectl create rolebinding jenkins-binding --role=evc-operator --user=jenkins`.
FOR_USER = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: jenkins-binding, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: evc-operator}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: jenkins}
"""

#: Result of `kubectl create rolebinding jenkins-binding --role=evc-operator --serviceaccount=default:jenkins`.
FOR_ACCOUNT = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: jenkins-binding, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: evc-operator}
subjects:
- {kind: ServiceAccount, name: jenkins, namespace: default}
"""

#: Result of `kubectl create rolebinding jenkins-binding2 --clusterrole=evc-operator --serviceaccount=default:jenkins`.
NARROW = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: jenkins-binding2, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: evc-operator}
subjects:
- {kind: ServiceAccount, name: jenkins, namespace: default}
"""

#: `kubectl create clusterrolebinding jenkins-binding2 --clusterrole=evc-operator --serviceaccount=default:jenkins`.
WIDE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: jenkins-binding2}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: evc-operator}
subjects:
- {kind: ServiceAccount, name: jenkins, namespace: default}
"""

EVC_DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ephemeralvolumeclaims.kopf.dev
spec:
  scope: Namespaced
  group: kopf.dev
  names:
    kind: EphemeralVolumeClaim
    plural: ephemeralvolumeclaims
    singular: ephemeralvolumeclaim
    shortNames:
      - evcs
      - evc
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              x-kubernetes-preserve-unknown-fields: true
            status:
              type: object
              x-kubernetes-preserve-unknown-fields: true
"""

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata:
 name: evc-operator
 labels:
     app: evc-operator
spec:
 replicas: 1
 selector:
   matchLabels:
     app: evc-operator
 template:
    metadata:
      labels:
        app: evc-operator
    spec:
      containers:
      - image: bisonliao/evc
        name: evc-operator
"""

#: Row 001.20: the name of the ClusterRole ends with a full-width comma.
INVENTORY = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: k8s-operator、
  annotations:
    app: k8s-operator-test
rules:
  - apiGroups:
      - apps
    resources:
      - daemonsets
      - deployments
      - replicasets
      - statefulsets
    verbs:
      - create
      - delete
      - get
      - list
      - update
      - watch
      - patch
  - apiGroups:
      - ''
    resources:
      - nodes
      - namespaces
      - pods
      - services
      - serviceaccounts
    verbs:
      - create
      - delete
      - get
      - list
      - patch
      - update
      - watch
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: k8s-test-operator
  namespace: testing
  annotations:
    app: k8s-operator-test
secrets:
  - name: k8s-test-operator-token-2hfbn
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: k8s-test-operator-cluster
  annotations:
    app: k8s-operator-test
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: k8s-operator
subjects:
  - kind: ServiceAccount
    name: k8s-test-operator
    namespace: testing
"""

#: Row 003.11: generated by controller-gen from a marker with the wrong group.
PODSET = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  creationTimestamp: null
  name: manager-role
  namespace: jicki-system
rules:
- apiGroups:
  - apps.jicki.cn
  resources:
  - deployments
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - update
  - watch
- apiGroups:
  - apps.jicki.cn
  resources:
  - podsets
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - update
  - watch
- apiGroups:
  - apps.jicki.cn
  resources:
  - podsets/finalizers
  verbs:
  - update
- apiGroups:
  - apps.jicki.cn
  resources:
  - podsets/status
  verbs:
  - get
  - patch
  - update
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - get
  - list
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: manager-rolebinding
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: manager-role
subjects:
- kind: ServiceAccount
  name: controller-manager
  namespace: jicki-system
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: controller-manager
  namespace: jicki-system
"""

PODSET_DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: podsets.apps.jicki.cn
spec:
  group: apps.jicki.cn
  names:
    kind: PodSet
    listKind: PodSetList
    plural: podsets
    singular: podset
  scope: Namespaced
  versions:
  - name: v1alpha1
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
    served: true
    storage: true
    subresources:
      status: {}
"""


def parsed(*texts: str) -> list[Object]:
    """Read the objects of YAML."""
    return [obj for text in texts for obj in yaml.safe_load_all(text) if obj]
