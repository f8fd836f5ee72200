"""Small programs for tests of `pyctrl dev`, which rewrite them during a session."""

from __future__ import annotations

PROGRAM = """\
from pyctrl import CustomResource, Model, Reconciler, Request, allow, merge_from
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl import ObjectMeta, set_controller_reference


class BoxSpec(Model):
    size: int = 1


class BoxStatus(Model):
    said: str = ""


class Box(CustomResource[BoxSpec, BoxStatus], group="dev.example.com", version="v1"):
    "A box."


class BoxReconciler(Reconciler[Box]):
    owns = (ConfigMap,)
    rbac = (allow(Box, "patch", subresource="status"), allow(ConfigMap, "create"))

    async def reconcile(self, request: Request) -> None:
        box = await self.client.find(Box, request.key)
        if box is None:
            return
        if await self.client.find(ConfigMap, request.key) is None:
            content = ConfigMap(metadata=ObjectMeta(name=request.name, namespace=request.namespace))
            set_controller_reference(box, content)
            await self.client.create(content)
        if box.status.said != "one":
            before = box.deep_copy()
            box.status.said = "one"
            await self.client.status.patch(box, merge_from(before))
"""

SAMPLE = """\
apiVersion: dev.example.com/v1
kind: Box
metadata: {name: sample}
spec: {size: 2}
"""

WEBHOOKS = """

from pyctrl.errors import Rejected
from pyctrl.webhook import AdmissionRequest, Defaulter, FieldError, Validator


class BoxWebhook(Defaulter[Box], Validator[Box]):
    def default(self, obj: Box, request: AdmissionRequest) -> None:
        obj.spec.size = obj.spec.size or 7

    def validate_create(self, obj: Box, request: AdmissionRequest) -> None:
        if obj.spec.size > 10:
            raise Rejected(FieldError.invalid("spec.size", obj.spec.size, "LIMIT"))
"""

CONVERSION = """

from pyctrl.webhook import Conversion, Spoke


class OldSpec(Model):
    length: int = 1


class OldBox(CustomResource[OldSpec, BoxStatus], group="dev.example.com", version="v1alpha1", kind="Box"):
    "A box, as it was."


def to_hub(old: OldBox) -> Box:
    return Box(spec=BoxSpec(size=old.spec.length))


def from_hub(box: Box) -> OldBox:
    return OldBox(spec=OldSpec(length=box.spec.size))


CONVERSION = Conversion(Box, Spoke(OldBox, to_hub=to_hub, from_hub=from_hub))
"""

EXTENSION = """\
from pyctrl import Builder, Manager, ObjectMeta, Reconciler, Request, allow
from pyctrl.api import KubernetesObject
from pyctrl.extension_apiserver import ExtensionAPIServer
from pyctrl.kinds.core.v1 import ConfigMap


class Flavor(KubernetesObject, group="dev.example.com", version="v1"):
    "A flavor, which the program itself serves."

    label: str = "one"


class FlavorReconciler(Reconciler[Flavor]):
    rbac = (allow(ConfigMap, "create"),)

    async def reconcile(self, request: Request) -> None:
        flavor = await self.client.get(Flavor, request.key)
        metadata = ObjectMeta(name=f"{request.name}-{flavor.label}", namespace=request.namespace)
        await self.client.create(ConfigMap(metadata=metadata))


def add_flavors(manager: Manager) -> None:
    manager.add(ExtensionAPIServer(Flavor, client=manager.live_client, certificates="/nowhere"))
    Builder(manager).build(FlavorReconciler())
"""
