"""The operator greeter: `pyctrl dev greeter.py` runs it in a cluster of its own."""

from pyctrl import CustomResource, Int64, Model, Reconciler, Request, allow, is_deleting, merge_from
from pyctrl.errors import Rejected
from pyctrl.webhook import AdmissionRequest, Defaulter, FieldError, Operation, Validator


class GreetingSpec(Model):
    """What the user wants."""


class GreetingStatus(Model):
    """What there is."""

    observed_generation: Int64 = 0


class Greeting(
    CustomResource[GreetingSpec, GreetingStatus],
    group="generated.pyctrl.test",
    version="v1",
):
    """Greeting, as its users write it."""


class GreetingReconciler(Reconciler[Greeting]):
    """Brings what there is to what each Greeting says."""

    rbac = (allow(Greeting, "patch", subresource="status"),)

    async def reconcile(self, request: Request) -> None:
        """Look at one Greeting, and make what differs as it says."""
        greeting = await self.client.find(Greeting, request.key)
        if greeting is None or is_deleting(greeting):
            return  # gone or going: the cluster collects what it owned
        if greeting.status.observed_generation != greeting.metadata.generation:
            before = greeting.deep_copy()
            greeting.status.observed_generation = greeting.metadata.generation
            await self.client.status.patch(greeting, merge_from(before))


class GreetingDefaults(Defaulter[Greeting]):
    """Fills in what users of Greeting leave out, where the defaults of its fields cannot say it."""

    def default(self, obj: Greeting, request: AdmissionRequest) -> None:
        """Have each new one tell who made it."""
        if request.operation is Operation.CREATE:
            obj.metadata.annotations["generated.pyctrl.test/created-by"] = request.user.username


class GreetingValidation(Validator[Greeting]):
    """Refuses what the types of Greeting cannot rule out; validate_update and validate_delete would be asked, too."""

    def validate_create(self, obj: Greeting, request: AdmissionRequest) -> None:
        """Leave room in its name, with which the names of what is made for it begin."""
        if len(obj.metadata.name) > 52:  # labels hold 63
            raise Rejected(FieldError.too_long("metadata.name", 52))
