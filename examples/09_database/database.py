"""Database operator: creates a schema and its user in a PostgreSQL server, and a Secret with the login."""

import secrets
from base64 import b64decode, b64encode
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from postgres import DatabaseError, Postgres, SchemaOwner
from pyctrl import AGE, EVENTS, Builder, Manager, ObjectReconciler, Result, allow, reading
from pyctrl.api import (
    Condition,
    CustomResource,
    Immutable,
    Int32,
    Key,
    Model,
    ObjectMeta,
    PrinterColumn,
    set_condition,
    set_controller_reference,
)
from pyctrl.client import merge_from
from pyctrl.controller import ExponentialBackoff, FinalizeResult, Finalizers, generation_changed
from pyctrl.kinds.core.v1 import Secret

Name = Annotated[str, Field(pattern="^[ -~]+$", max_length=63)]  # ASCII: PostgreSQL cuts names off after 63 bytes
ROTATION = "postgresql.example.com/rotation"
REPAIR_INTERVAL = timedelta(minutes=10)  # a database has no watch: changes by others are undone after this time


class SchemaSpec(Model):
    """What the user wants."""

    server: Name
    """The Secret with the login of a superuser: PGHOST, PGPORT, PGDATABASE, PGUSER and PGPASSWORD."""

    schema_name: Annotated[Name, Immutable()]

    user: Annotated[Name, Immutable()]
    """The owner of the schema. Its login is in the Secret ``NAME-login``."""

    readers: list[Name] = Field(default_factory=list, max_length=100)
    """Other users, which may read the tables of the schema."""

    rotation: Int32 = 0
    """Another number requests another password."""

    deletion_policy: Literal["Retain", "Drop"] = "Retain"
    """Whether the schema and the user outlive this object."""


class SchemaStatus(Model):
    """What there is."""

    conditions: list[Condition] = Field(default_factory=list)


READY = '.status.conditions[?(@.type=="Ready")]'
COLUMNS = (
    PrinterColumn("Schema", ".spec.schemaName"),
    PrinterColumn("User", ".spec.user"),
    PrinterColumn("Ready", f"{READY}.status"),
    PrinterColumn("Message", f"{READY}.message"),
    AGE,
)


class Schema(CustomResource[SchemaSpec, SchemaStatus], group="postgresql.example.com", version="v1", columns=COLUMNS):
    """Schema is a schema of a PostgreSQL database, and the user that owns it."""


class SchemaReconciler(ObjectReconciler[Schema]):
    """Keeps the schema, its user, and the Secret with the login as a Schema describes them."""

    owns = (Secret,)
    reads = (reading(Secret, of="data"),)  # the login of the server
    rbac = (allow(Secret, "create", "patch"), allow(Schema, "patch", subresource="status"), EVENTS)

    def __init__(self, postgres: Postgres) -> None:
        self.postgres = postgres
        self.finalizers = Finalizers[Schema]()
        self.finalizers.register("postgresql.example.com/schema", self.release)

    async def reconcile_object(self, schema: Schema) -> Result | None:
        """Provide the login and what it opens, and report whether it works."""
        server = await self.login_in(schema, schema.spec.server)
        if not server:  # no error, no retry: the creation of the Secret causes a reconcile
            await self.report(schema, "NoServer", f"There is no Secret {schema.spec.server}.")
            return None
        password = await self.provide_login(schema, server)
        try:
            await self.postgres.provide(server, owner_of(schema), password, schema.spec.readers)
        except DatabaseError as error:
            await self.report(schema, error.reason, str(error))
            raise  # to be retried with backoff
        await self.report(schema, "Provided", f"The login is in Secret {login_of(schema)}.")
        return Result.after(REPAIR_INTERVAL)

    async def provide_login(self, schema: Schema, server: dict[str, str]) -> str:
        """Write the Secret of the user, with a new password if one is requested, and return the password.

        It is written before the database is changed: after a crash in between, the next reconcile repeats the change.
        """
        name, rotation = login_of(schema), {ROTATION: str(schema.spec.rotation)}
        metadata = ObjectMeta(name=name, namespace=schema.metadata.namespace, annotations=rotation)
        found = await self.client.find(Secret, Key(metadata.namespace, name))
        is_current = found is not None and found.metadata.annotations.get(ROTATION) == rotation[ROTATION]
        password = decoded(found).get("PGPASSWORD", "") if is_current else ""
        login = {**server, "PGUSER": schema.spec.user, "PGPASSWORD": password or secrets.token_urlsafe(24)}
        secret = Secret(metadata=metadata, data={key: b64encode(text.encode()).decode() for key, text in login.items()})
        set_controller_reference(schema, secret)
        await self.client.create_or_apply(secret, force=True)
        return login["PGPASSWORD"]

    async def release(self, schema: Schema) -> FinalizeResult | None:
        """Delete the schema and its user before their object is deleted, if the policy is Drop."""
        if schema.spec.deletion_policy == "Retain":
            return None
        server = await self.login_in(schema, schema.spec.server)
        if not server:
            await self.report(schema, "NoServer", f"Secret {schema.spec.server} is needed to drop the schema.")
            return FinalizeResult(waiting=True)
        try:
            await self.postgres.drop(server, owner_of(schema))
        except DatabaseError as error:
            await self.report(schema, error.reason, str(error))
            raise
        return None

    async def login_in(self, schema: Schema, name: str) -> dict[str, str]:
        """Return the login in a Secret; empty if there is none."""
        return decoded(await self.client.find(Secret, Key(schema.metadata.namespace, name)))

    async def report(self, schema: Schema, reason: str, message: str) -> None:
        """Update the condition, and record an Event for a new problem."""
        after, is_ready = schema.deep_copy(), reason == "Provided"
        status: Literal["True", "False"] = "True" if is_ready else "False"
        ready = Condition(type="Ready", status=status, reason=reason, message=message)
        ready.observed_generation = schema.metadata.generation
        if set_condition(after.status.conditions, ready):
            await self.client.status.patch(after, merge_from(schema))
            (self.recorder.normal if is_ready else self.recorder.warning)(schema, reason, message)


def owner_of(schema: Schema) -> SchemaOwner:
    """Return what a Schema describes in the database."""
    mark = (
        f"{schema.gvk.group}: {schema.key}"  # also of a later object of this name, which takes over what was retained
    )
    return SchemaOwner(schema.spec.schema_name, schema.spec.user, mark)


def login_of(schema: Schema) -> str:
    """Return the name of the Secret with the login of the user."""
    return f"{schema.metadata.name}-login"


def decoded(secret: Secret | None) -> dict[str, str]:
    """Return the content of a Secret as texts."""
    return {} if secret is None else {key: b64decode(text).decode() for key, text in secret.data.items()}


def add_schemas(manager: Manager, postgres: Postgres | None = None) -> None:
    """Add the operator. A server that is down is tried again after 1 s, 2 s, 4 s, ... up to five minutes."""
    (
        Builder(manager)
        .reconciles(Schema, predicates=[generation_changed])  # not for its own writes of the status
        .options(limiter=ExponentialBackoff(first=timedelta(seconds=1), longest=timedelta(minutes=5)))
        .build(SchemaReconciler(postgres or Postgres()))
    )
