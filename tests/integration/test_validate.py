"""Offline validation gives the same answers as a cluster."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from pyctrl.api import Key
from pyctrl.client import Client, HttpRequest, wait_until_gone
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.manifests import ManifestProblem, ManifestValidator, read_manifest_objects
from tests.integration._definitions import answers
from tests.integration._operators import established

SCHEMA = """
type: object
required: [spec]
properties:
  spec:
    type: object
    required: [size]
    x-kubernetes-validations:
    - {rule: "!has(self.low) || self.low <= self.size", message: low is above size, fieldPath: .low}
    properties:
      size: {type: integer, format: int32, minimum: 0, maximum: 10, multipleOf: 2}
      low: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}
      colour: {type: string, enum: [red, blue], default: red}
      name: {type: string, minLength: 2, maxLength: 5, pattern: "^[a-z]+$"}
      address: {type: string, format: ipv4}
      when: {type: string, format: date-time}
      port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
      weights: {type: object, additionalProperties: {type: number}, maxProperties: 2}
      tags: {type: array, items: {type: string}, x-kubernetes-list-type: set, maxItems: 3}
      parts:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          required: [name]
          properties: {name: {type: string}, weight: {type: integer, default: 1}}
      one:
        type: object
        properties: {a: {type: string}, b: {type: string}}
        oneOf: [{required: [a]}, {required: [b]}]
      bounds: {type: object, additionalProperties: {type: string}, minProperties: 3, maxProperties: 1}
      all: {type: string, minLength: 3, maxLength: 1, pattern: "^[b-z]+$", format: ipv4, enum: [zz]}
      open: {type: object, additionalProperties: true}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true}
      whole: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
"""

# specs of the kind above
SPECS = """
- {size: 2, colour: blue, name: abc, port: http, free: {any: [1]}, parts: [{name: a}, {name: b}]}
- {size: 4, low: 3, weights: {a: 1.5}, tags: [a, b], address: 10.0.0.1, when: "2026-01-01T00:00:00Z", one: {a: x}}
- {}
- {size: "2"}
- {size: 3}
- {size: -2}
- {size: 12, colour: green}
- {size: 2.5}
- {size: 3000000000}
- {size: null}
- {size: 2, name: A}
- {size: 2, name: abcdef}
- {size: 2, name: null, colour: null}
- {size: 2, address: 300.1.1.1, when: yesterday}
- {size: 2, port: 1.5}
- {size: 2, port: true}
- {size: 2, weights: {a: b}}
- {size: 2, weights: {a: 1, b: 2, c: 3}}
- {size: 2, weights: []}
- {size: 2, tags: [a, b, a]}
- {size: 2, tags: [a, b, c, d]}
- {size: 2, tags: a}
- {size: 2, parts: [{name: a}, {name: a}]}
- {size: 2, parts: [{weight: 2}]}
- {size: 2, parts: [{name: a, wait: 2}, {name: b, wait: 2}]}
- {size: 2, bounds: {a: 1, b: x}}
- {size: 2, all: aa}
- {size: 2, open: {a: 1, b: null, c: [1]}}
- {size: 2, open: {a: {b: 1}, c: [{d: 1}]}}
- {size: 2, one: {}}
- {size: 2, one: {a: x, b: y}}
- {size: 2, low: 4}
- {size: 2, low: -1}
- {size: 2, siez: 4, other: {a: 1}}
- {size: 2, whole: {a: 1}}
- {size: 2, whole: {apiVersion: v1, kind: Pod, metadata: {labels: {a: 1}}}}
- 3
- []
"""

# whole objects, of built-in kinds
OBJECTS = """
- {apiVersion: v1, kind: ConfigMap, metadata: {name: fine}, data: {a: "1"}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: A_B}, data: {a: "1"}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: fine}, data: {a: 1}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: fine, lables: {a: b}}, dada: {a: b}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: fine, labels: {"a b": "c d"}}, data: {"a/b": c}}
- {apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: b}}}
- {apiVersion: v1, kind: ConfigMap, metadata: {generateName: fine-}}
- {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80, protocol: tcp}]}}
- {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}, {port: 81}]}}
- {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 800000, name: a}], type: Cluster}}
- {apiVersion: v1, kind: Secret, metadata: {name: fine}, data: {a: "?"}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {resources: {requests: {storage: much}}}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [Sometimes]}}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: "3"}}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: other}}
      spec: {containers: [{name: web, image: nginx, ports: [{containerPort: 0}]}], restartPolicy: Never}
- apiVersion: batch/v1
  kind: CronJob
  metadata: {name: nightly}
  spec:
    schedule: "at night"
    jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: reader}
  rules: [{apiGroups: [""], resources: [pods]}]
- apiVersion: networking.k8s.io/v1
  kind: Ingress
  metadata: {name: web}
  spec:
    ingressClassName: A_
    tls: [{hosts: ["a_b", "*"]}]
    rules:
    - {host: 1.2.3.4, http: {paths: []}}
    - host: a.b
      http:
        paths:
        - {path: web, backend: {service: {name: web, port: {number: 80}}}}
        - {path: web, pathType: Prefix, backend: {service: {name: A_, port: {}}}}
        - {path: /a//b, pathType: Exact, backend: {service: {name: a, port: {number: 70000}}}}
        - {path: /, pathType: Some, backend: {}}
- {apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {}}
- apiVersion: networking.k8s.io/v1
  kind: NetworkPolicy
  metadata: {name: some}
  spec:
    podSelector: {matchLabels: {"a b": c}}
    policyTypes: [In]
    ingress:
    - ports: [{port: 70000}, {port: A_}, {endPort: 9}, {port: 9, endPort: 8}, {port: 9, protocol: X}]
      from: [{}, {ipBlock: {cidr: x}}, {ipBlock: {cidr: 10.0.0.0/8, except: [11.0.0.0/24]}}]
- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 1, maxUnavailable: 1}}
- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: "120%"}}
- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {maxUnavailable: some}}
- apiVersion: autoscaling/v2
  kind: HorizontalPodAutoscaler
  metadata: {name: a}
  spec: {scaleTargetRef: {kind: a/b}, maxReplicas: 1, minReplicas: 3}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec:
        hostname: A_
        nodeSelector: {"a b": c}
        securityContext: {runAsUser: -1, fsGroup: -1}
        tolerations: [{operator: Some}, {key: a, operator: Exists, value: b}, {key: a, tolerationSeconds: 3}]
        topologySpreadConstraints: [{maxSkew: 0, topologyKey: "", whenUnsatisfiable: Some}]
        volumes: [{name: a, configMap: {}}, {name: b, emptyDir: {}, secret: {}}]
        containers:
        - name: web
          image: nginx
          ports: [{containerPort: 80, hostPort: 70000, name: a}, {containerPort: 81, name: a}]
          livenessProbe: {httpGet: {port: 0}, successThreshold: 2}
          readinessProbe: {}
          startupProbe: {exec: {}, periodSeconds: -1}
          env: [{name: a, valueFrom: {}}, {name: b, valueFrom: {fieldRef: {fieldPath: x}}}]
          envFrom: [{}, {configMapRef: {name: A_}}]
          resources: {limits: {cpu: -1, foo: 1}}
          volumeMounts: [{name: a, mountPath: /a}, {name: b, mountPath: /a, subPath: ../x}]
- {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a}, spec: {leaseDurationSeconds: 0}}
- {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a}, spec: {renewTime: now}}
"""


def definition(namespace: str) -> dict[str, Any]:
    """A definition in a group that no other test uses."""
    group = f"{namespace}.pyctrl.test"
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": yaml.safe_load(SCHEMA)}}
    names = {"kind": "Gauge", "plural": "gauges", "singular": "gauge", "listKind": "GaugeList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gauges.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


async def _answer(client: Client, path: str, obj: Any) -> tuple[int, dict[str, Any]]:
    query = (("dryRun", "All"), ("fieldValidation", "Strict"))
    headers = {"Content-Type": "application/json"}
    body = json.dumps(obj).encode()
    response = await client.transport.request(
        HttpRequest(method="POST", path=path, query=query, headers=headers, body=body)
    )
    return response.status, json.loads(response.body)


def _disagreement(problems: tuple[ManifestProblem, ...], code: int, status: dict[str, Any]) -> str:
    """Describe where offline validation differs from the server's answer; "" if they agree."""
    strict = [each.message for each in problems if each.reason in ("FieldUnknown", "FieldDuplicate")]
    unread = [each.message for each in problems if each.reason == "DecodeFailed"]
    causes = sorted((each.path, each.message) for each in problems if each.message not in (*strict, *unread))
    if code == 201:
        agrees = not problems
    elif code == 422:
        theirs = sorted((each["field"], each["message"]) for each in status["details"]["causes"])
        agrees = not strict and not unread and causes == theirs
    else:  # the server reports only the decode error or the unknown fields
        told = strict or unread
        as_many = status["message"].count("unknown field") == len(strict)
        agrees = code == 400 and bool(told) and all(each in status["message"] for each in told) and as_many
    return "" if agrees else f"{[str(each) for each in problems]}, but: {code} {json.dumps(status)}"


async def _disagreements(client: Client, path: str, objects: list[Any], validator: ManifestValidator) -> list[str]:
    found = []
    for obj in objects:
        (document,) = read_manifest_objects(json.dumps(obj).encode(), "object")
        problems = validator.validate(document).problems
        if why := _disagreement(problems, *await _answer(client, path, obj)):
            found.append(f"{json.dumps(obj)}: {why}")
    return found


@pytest.mark.virtual_time
@pytest.mark.slow("a real API server lets the first creation of a new kind wait for two seconds")
async def test_objects_of_a_definition(client: Client, namespace: str) -> None:
    """A cluster and offline validation accept the same custom objects, and reject the others with the same causes."""
    made = definition(namespace)
    await client.create(CustomResourceDefinition.from_wire(made))
    try:
        await established(client, made["metadata"]["name"])
        group = made["spec"]["group"]
        path = f"/apis/{group}/v1/namespaces/{namespace}/gauges"
        await answers(client, path, 200)
        validator = ManifestValidator()
        (document,) = read_manifest_objects(json.dumps(made).encode(), "definition")
        assert not validator.define(document).problems

        specs = [{"spec": spec} for spec in yaml.safe_load(SPECS)]
        head = {"apiVersion": f"{group}/v1", "kind": "Gauge", "metadata": {"name": "a"}}
        found = await _disagreements(client, path, [head | spec for spec in specs], validator)
        assert not found, "\n".join(found)
    finally:
        key = Key("", made["metadata"]["name"])
        await client.delete(CustomResourceDefinition, key)
        await wait_until_gone(client, CustomResourceDefinition, key)


@pytest.mark.virtual_time
async def test_objects_of_built_in_kinds(client: Client, namespace: str) -> None:
    """A cluster and offline validation agree on objects of built-in kinds."""
    found = []
    for obj in yaml.safe_load(OBJECTS):
        group, _, version = obj["apiVersion"].rpartition("/")
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        plural = re.sub("s$", "se", re.sub("y$", "ie", obj["kind"].lower())) + "s"
        found += await _disagreements(client, f"{root}/namespaces/{namespace}/{plural}", [obj], ManifestValidator())

    assert not found, "\n".join(found)


DEFINITIONS = """
- {}
- {spec: {scope: Everywhere}}
- {spec: {group: nodot}}
- {spec: {names: {plural: Gauges, kind: Gauge}}}
- {spec: {versions: []}}
- {schema: {type: object, properties: {a: {type: text}}}}
- {schema: {type: object, properties: {a: {}}}}
- {schema: {type: object, properties: {a: {type: array}}}}
- {schema: {type: object, properties: {a: {type: string, default: 1}}}}
- {schema: {type: object, properties: {a: {type: string, pattern: "("}}}}
- {schema: {type: object, properties: {a: {type: string, const: x}}}}
- {schema: {type: object, properties: {a: {type: integer, minimum: low}}}}
- {schema: {type: object, properties: {a: {type: object, x-kubernetes-validations: [{rule: "self.b > 1"}]}}}}
- {schema: {type: object, properties: {a: {anyOf: [{type: string}]}}}}
- {schema: {type: array}}
"""


@pytest.mark.virtual_time
async def test_definitions(client: Client, namespace: str) -> None:
    """A cluster and offline validation agree on definitions."""
    objects = []
    for edit in yaml.safe_load(DEFINITIONS):
        made = definition(namespace)
        made["spec"].update(edit.get("spec", {}))
        if "schema" in edit:
            made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = edit["schema"]
        objects.append(made)

    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    found = await _disagreements(client, path, objects, ManifestValidator())

    assert not found, "\n".join(found)
