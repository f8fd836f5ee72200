"""The operator greeter. Run it in a local cluster with `pyctrl dev greeter.py`."""

from pyctrl import CustomResource, Int64, Model, Reconciler, Request, allow, is_deleting, merge_from
from pyctrl.errors import Rejected
from pyctrl.webhook import AdmissionRequest, Defaulter, FieldError, Operation, Validator


class GreetingSpec(Model):
    """The desired state of a Greeting."""


class GreetingStatus(Model):
    """The observed state of a Greeting."""

    observed_generation: Int64 = 0


class Greeting(
    CustomResource[GreetingSpec, GreetingStatus],
    group="generated.pyctrl.test",
    version="v1",
):
    """Greeting is the schema for the Greeting API."""


class GreetingReconciler(Reconciler[Greeting]):
    """Reconciles the actual state with the spec of each Greeting."""

    rbac = (allow(Greeting, "patch", subresource="status"),)

    async def reconcile(self, request: Request) -> None:
        """Reconcile one Greeting."""
        greeting = await self.client.find(Greeting, request.key)
        if greeting is None or is_deleting(greeting):
            return  # deleted: the garbage collector removes the objects it owns
        if greeting.status.observed_generation != greeting.metadata.generation:
            before = greeting.deep_copy()
            greeting.status.observed_generation = greeting.metadata.generation
            await self.client.status.patch(greeting, merge_from(before))


class GreetingDefaults(Defaulter[Greeting]):
    """Sets defaults of a Greeting that field defaults in its schema cannot express."""

    def default(self, obj: Greeting, request: AdmissionRequest) -> None:
        """Set an annotation with the name of the creator."""
        if request.operation is Operation.CREATE:
            obj.metadata.annotations["generated.pyctrl.test/created-by"] = request.user.username


class GreetingValidation(Validator[Greeting]):
    """Validates a Greeting beyond its schema. Add validate_update and validate_delete as needed."""

    def validate_create(self, obj: Greeting, request: AdmissionRequest) -> None:
        """Limit the length of the name, which is the prefix of the names of owned objects."""
        if len(obj.metadata.name) > 52:  # label values have at most 63 characters
            raise Rejected(FieldError.too_long("metadata.name", 52))
