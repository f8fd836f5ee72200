"""Hashes of pod templates."""

from __future__ import annotations

from pyctrl.api import ObjectMeta
from pyctrl.cluster._controllers.pod_template_hash import equal_ignore_hash, fnv_128a, template_hash
from pyctrl.kinds.core.v1 import Container, PodSpec, PodTemplateSpec


def template(image: str, **labels: str) -> PodTemplateSpec:
    """Make a pod template."""
    return PodTemplateSpec(
        metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="c", image=image)])
    )


def test_the_hash_label_does_not_make_another_template() -> None:
    """The hash label of ReplicaSets is ignored in the comparison of templates."""
    hashed = template("a", app="x")
    hashed.metadata.labels["pod-template-hash"] = "abc"
    assert equal_ignore_hash(template("a", app="x"), hashed)
    assert not equal_ignore_hash(template("a", app="x"), template("b", app="x"))


def test_hash_depends_on_template_and_collisions() -> None:
    """Equal templates have equal hashes; another image or collision count changes the hash."""
    first = template_hash(template("a"), 0)
    assert first == template_hash(template("a"), 0)
    assert len({first, template_hash(template("b"), 0), template_hash(template("a"), 1)}) == 3
    assert first.isalnum()


def test_the_hash_is_that_of_the_controller_manager() -> None:
    """A ReplicaSet has the name that kube-controller-manager 1.36 gives it."""
    container = {"name": "c", "image": "nginx", "resources": {}, "imagePullPolicy": "Always"}
    container |= {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    spec = {"containers": [container], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30}
    spec |= {"dnsPolicy": "ClusterFirst", "securityContext": {}, "schedulerName": "default-scheduler"}
    web = PodTemplateSpec.from_wire({"metadata": {"labels": {"app": "web"}}, "spec": spec})
    assert template_hash(web, 0) == "64586f5df"


def test_the_128_bit_hash_is_that_of_the_specification() -> None:
    """The hash by which the ports of Endpoints are sorted is FNV-1a of 128 bits."""
    assert f"{fnv_128a(b''):032x}" == "6c62272e07bb014262b821756295c58d"
    assert f"{fnv_128a(b'a'):032x}" == "d228cb696f1a8caf78912b704e4a8964"
