"""Greeter: keeps a ConfigMap with a greeting for each Greeting."""

from pyctrl import CustomResource, Model, ObjectMeta, ObjectReconciler, allow, set_controller_reference
from pyctrl.kinds.core.v1 import ConfigMap


class GreetingSpec(Model):
    """What the user wants."""

    name: str


class Greeting(CustomResource[GreetingSpec, Model], group="example.com", version="v1"):
    """Greeting is a greeting in a ConfigMap."""


class GreetingReconciler(ObjectReconciler[Greeting]):
    """Creates the ConfigMap of a Greeting, and writes the greeting again when it differs."""

    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, greeting: Greeting) -> None:
        """Bring the ConfigMap to the state that the Greeting describes."""
        metadata = ObjectMeta(name=greeting.metadata.name, namespace=greeting.metadata.namespace)
        config_map = ConfigMap(metadata=metadata, data={"greeting": f"Hello, {greeting.spec.name}!"})
        set_controller_reference(greeting, config_map)  # its changes cause reconciles, and it is deleted with its owner
        await self.client.create_or_apply(config_map, force=True)
