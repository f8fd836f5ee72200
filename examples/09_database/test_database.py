"""The database operator with a real PostgreSQL, which the tests start."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

import database
from database import Schema, SchemaSpec, add_schemas, decoded
from postgres import DatabaseError, Postgres, SchemaOwner, transaction
from postgres_server import HOW_TO_INSTALL, find_binaries, postgres_server
from pyctrl import Manager
from pyctrl.api import Condition, Key, ObjectMeta, find_condition
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list, wait_until_gone
from pyctrl.kinds.core.v1 import Secret
from pyctrl.kinds.events.v1 import Event
from pyctrl.simulation import Explore, External, World, eventually
from pyctrl.testing import InstallKinds, UnderRole

pytestmark = pytest.mark.real_time  # a real server has no virtual time


@pytest.fixture(scope="session")
def server() -> Iterator[dict[str, str]]:
    """The login of a PostgreSQL server; without PostgreSQL on this machine its tests are skipped."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(HOW_TO_INSTALL)
    with postgres_server(binaries) as login:
        yield login


class Place:
    """A namespace in which the operator runs."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client, self.namespace = client, namespace

    async def server(self, login: dict[str, str], **other: str) -> None:
        """Create or change the Secret with the login of the server."""
        metadata = ObjectMeta(name="server", namespace=self.namespace)
        await self.client.apply(Secret(metadata=metadata, string_data={**login, **other}), force=True)

    async def create(self, name: str, **spec: Any) -> Key:
        """Create a Schema, by default with its own name."""
        wanted = SchemaSpec(**{"server": "server", "schema_name": name, "user": name, **spec})
        return (
            await self.client.create(Schema(metadata=ObjectMeta(name=name, namespace=self.namespace), spec=wanted))
        ).key

    async def change(self, key: Key, **spec: Any) -> None:
        """Change the spec of a Schema, by JSON names."""
        await self.client.patch(Schema, key, MergePatch({"spec": spec}))

    async def until(self, key: Key, reason: str) -> Condition:
        """Wait until the condition Ready of this generation has a reason, or a message that contains it."""

        def is_so(found: Schema) -> bool:
            ready = find_condition(found.status.conditions, "Ready")
            is_current = ready is not None and ready.observed_generation == found.metadata.generation
            return is_current and ready is not None and (reason in ready.reason or reason in ready.message)

        ready = find_condition((await wait_for(self.client, Schema, key, is_so)).status.conditions, "Ready")
        assert ready is not None
        return ready

    async def login(self, key: Key, *, other_than: str = "") -> dict[str, str]:
        """Return the login in the Secret of a Schema, once its password is another one."""
        key = Key(key.namespace, f"{key.name}-login")
        return decoded(
            await wait_for(self.client, Secret, key, lambda found: decoded(found)["PGPASSWORD"] != other_than)
        )


@pytest.fixture
async def place(install_kinds: InstallKinds, client: Client, namespace: str) -> Place:
    """A namespace of a cluster with the kind."""
    await install_kinds(database)
    return Place(client, namespace)


async def rows(login: dict[str, str], query: str) -> list[Any]:
    """Return the first column of a query's result; none of a statement without a result."""
    async with transaction(login) as connection:
        cursor = await connection.execute(query.encode())
        return [row[0] for row in await cursor.fetchall()] if cursor.description else []


async def logs_in(login: dict[str, str]) -> bool:
    """Return whether a server accepts a login."""
    with suppress(DatabaseError):
        return await rows(login, "SELECT 1") == [1]
    return False


async def soon(check: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a check returns true, at most ten seconds."""
    for _ in range(200):
        if await check():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it has not become true")


async def test_a_user_works_in_its_schema(place: Place, server: dict[str, str], under_role: UnderRole) -> None:
    """The user creates tables in its schema, and the operator needs exactly the permissions that it declares."""
    async with under_role(add_schemas) as operator:
        key = await place.create("shop")
        assert (await place.until(key, "NoServer")).message == "There is no Secret server."
        await place.server(server)
        assert (await place.until(key, "Provided")).message == "The login is in Secret shop-login."
        login = await place.login(key)
        await rows(login, "CREATE TABLE items (name text)")
        assert await rows(login, "SELECT schemaname || '.' || tableowner FROM pg_tables WHERE tablename = 'items'") == [
            "shop.shop"
        ]
        assert await rows(
            login, "SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = 'shop'"
        ) == [False]
        await place.change(key, deletionPolicy="Drop")
        await place.client.delete(Schema, key)
        await wait_until_gone(place.client, Schema, key)
        assert operator.compare().lines() == []


async def test_names_are_quoted(place: Place, server: dict[str, str], under_role: UnderRole) -> None:
    """Names with quotes, blanks and SQL are names."""
    schema, user = 'a"b; DROP SCHEMA public; --', "o'brien %s {x} \\"
    await place.server(server)
    async with under_role(add_schemas):
        key = await place.create("odd", schema_name=schema, user=user, readers=["pg_monitor"], deletion_policy="Drop")
        await place.until(key, "Provided")
        assert await rows(await place.login(key), "SELECT current_schema() || '=' || current_user") == [
            f"{schema}={user}"
        ]
        await place.client.delete(Schema, key)
        await wait_until_gone(place.client, Schema, key)
    assert await rows(server, "SELECT count(*) FROM pg_namespace WHERE nspname = 'public' OR nspname LIKE 'a\"b%'") == [
        1
    ]


async def test_readers_read(place: Place, server: dict[str, str], under_role: UnderRole) -> None:
    """A reader reads tables that exist and later ones and writes none; a user that is removed reads nothing."""
    await place.server(server)
    async with under_role(add_schemas):
        writer, reader = await place.create("writer", readers=["reader"]), await place.create("reader")
        await place.until(reader, "Provided")
        await place.until(writer, "Provided")
        owner, login = await place.login(writer), await place.login(reader)
        await rows(owner, "CREATE TABLE later (n int)")
        assert await rows(login, "SELECT * FROM writer.later") == []
        with pytest.raises(DatabaseError, match="permission denied for table later"):
            await rows(login, "INSERT INTO writer.later VALUES (1)")
        await place.change(writer, readers=["pg_monitor"])
        await place.until(writer, "Provided")
        with pytest.raises(DatabaseError, match="permission denied for schema writer"):
            await rows(login, "SELECT * FROM writer.later")


async def test_a_reader_is_dropped(place: Place, server: dict[str, str], under_role: UnderRole) -> None:
    """A user that may read the tables of others can be dropped."""
    await place.server(server)
    async with under_role(add_schemas):
        reader = await place.create("dropped", deletion_policy="Drop")
        await place.until(reader, "Provided")
        await place.until(await place.create("others", readers=["dropped"]), "Provided")
        await place.client.delete(Schema, reader)
        await wait_until_gone(place.client, Schema, reader)
    assert await rows(server, "SELECT 1 FROM pg_roles WHERE rolname = 'dropped'") == []


async def test_a_password_is_rotated_on_request(place: Place, server: dict[str, str], under_role: UnderRole) -> None:
    """Another rotation is another password, and the old one is refused; other changes keep the password."""
    await place.server(server)
    async with under_role(add_schemas):
        key = await place.create("rotated")
        await place.until(key, "Provided")
        old = await place.login(key)
        await place.change(key, readers=["pg_monitor"])
        await place.until(key, "Provided")
        assert await place.login(key) == old
        await place.change(key, rotation=1)
        await place.until(key, "Provided")
        assert await logs_in(await place.login(key))
        assert not await logs_in(old)


async def test_a_login_that_is_deleted_is_made_again(
    place: Place, server: dict[str, str], under_role: UnderRole
) -> None:
    """When the Secret of a user is deleted, another one has a new password that works."""
    await place.server(server)
    async with under_role(add_schemas):
        key = await place.create("deleted")
        await place.until(key, "Provided")
        old = await place.login(key)
        await place.client.delete(Secret, Key(key.namespace, "deleted-login"))
        new = await place.login(key, other_than=old["PGPASSWORD"])
        await soon(lambda: logs_in(new))


async def test_what_is_retained_is_taken_over(place: Place, server: dict[str, str], under_role: UnderRole) -> None:
    """Without Drop the schema outlives its object, and a later object of the same name takes it over."""
    await place.server(server)
    async with under_role(add_schemas):
        key = await place.create("kept")
        await place.until(key, "Provided")
        await rows(await place.login(key), "CREATE TABLE kept (n int)")
        await place.client.delete(Schema, key)
        await wait_until_gone(place.client, Schema, key)
        await place.create("kept", deletion_policy="Drop")
        await place.until(key, "Provided")
        login = await place.login(key)
        assert await rows(login, "SELECT * FROM kept") == []
        await place.client.delete(Schema, key)
        await wait_until_gone(place.client, Schema, key)
    assert not await logs_in(login)
    assert await rows(server, "SELECT 1 FROM pg_namespace WHERE nspname = 'kept'") == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"user": "admin"}, "The user 'admin' exists and was not created for this Schema."),
        ({"schema_name": "public"}, "The schema 'public' exists and was not created for this Schema; its comment is "),
        ({"user": "pg_mine"}, 'role name "pg_mine" is reserved'),
        ({"readers": ["unknown"]}, 'role "unknown" does not exist'),
    ],
)
async def test_others_are_left_alone(
    place: Place, server: dict[str, str], under_role: UnderRole, spec: dict[str, Any], message: str
) -> None:
    """Users and schemas of others are not changed, and one error undoes the whole transaction."""
    await place.server(server)
    async with under_role(add_schemas):
        key = await place.create("greedy", **spec, deletion_policy="Drop")
        reason = "Conflict" if "exists and" in message else "Failed"
        assert (await place.until(key, reason)).message.startswith(message)
        assert await logs_in(server)
        assert await rows(server, "SELECT 1 FROM pg_roles WHERE rolname = 'greedy'") == []
        await place.client.delete(Schema, key)
        await wait_until_gone(place.client, Schema, key)
    assert await logs_in(server)
    assert await rows(server, "SELECT nspname FROM pg_namespace WHERE nspname = 'public'") == ["public"]


async def test_a_server_that_is_down_is_tried_with_backoff(
    place: Place, server: dict[str, str], under_role: UnderRole, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection failure is a condition and a retry after a second; a corrected Secret is used at once."""
    await place.server(server, PGPORT="1")
    async with under_role(add_schemas):
        key = await place.create("down", deletion_policy="Drop")
        assert "127.0.0.1" in (await place.until(key, "Unavailable")).message
        await asyncio.sleep(0.5)
        errors = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert len(errors) <= 3  # another one for the Secret that it has created itself
        assert "Traceback" not in caplog.text
        await place.server(server, PGPASSWORD="wrong")
        await place.until(key, "password authentication failed")
        await place.server(server)
        await place.until(key, "Provided")


async def test_a_deletion_waits_for_the_server(place: Place, server: dict[str, str], under_role: UnderRole) -> None:
    """With Drop an object stays until its schema is dropped, and says why; Retain releases it."""
    await place.server(server)
    async with under_role(add_schemas):
        keys = [await place.create(name, deletion_policy="Drop") for name in ("first", "second")]
        for key in keys:
            await place.until(key, "Provided")
        await place.client.delete(Secret, Key(place.namespace, "server"))
        for key in keys:
            await place.client.delete(Schema, key)
            assert (await place.until(key, "NoServer")).message.startswith("Secret server is needed")
        await place.change(keys[0], deletionPolicy="Retain")
        await wait_until_gone(place.client, Schema, keys[0])
        await place.server(server)
        await wait_until_gone(place.client, Schema, keys[1])
    assert await rows(server, "SELECT nspname FROM pg_namespace WHERE nspname IN ('first', 'second')") == ["first"]


async def test_no_password_is_logged(
    place: Place, server: dict[str, str], under_role: UnderRole, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the log of the operator, nor that of the server, nor an Event has a password."""

    def has_both(events: Sequence[Event]) -> bool:
        return {event.reason for event in events} >= {"Failed", "Provided"}

    caplog.set_level(logging.DEBUG)
    await place.server(server)
    async with under_role(add_schemas):
        key = await place.create("quiet", readers=["unknown"])
        await place.until(key, "Failed")
        passwords: Collection[str] = {server["PGPASSWORD"], (await place.login(key))["PGPASSWORD"]}
        await place.change(key, readers=[])
        await place.until(key, "Provided")
        events = await wait_for_list(place.client, Event, has_both, namespace=place.namespace)
    log = await asyncio.to_thread(Path(server["LOG"]).read_text)
    assert 'ALTER ROLE "quiet" LOGIN PASSWORD' in log
    for text in (log, caplog.text, *map(repr, caplog.records), *(str(event.to_wire()) for event in events)):
        assert not any(password in text for password in passwords)


def test_a_login_that_cannot_be_parsed_is_not_shown() -> None:
    """The error of an invalid login names the parameter, and not the password."""

    async def connect() -> None:
        async with transaction({"PGHOST": "127.0.0.1", "PGPORT": "a port", "PGPASSWORD": "hidden"}):
            raise AssertionError("it has connected")

    with pytest.raises(DatabaseError, match='invalid integer value "a port" for connection option "port"') as raised:
        asyncio.run(connect())
    assert "hidden" not in str(raised.value)
    assert not isinstance(raised.value.__cause__, psycopg.Error)


class Servers(External, Postgres):
    """The database servers as an object, for simulations: what schemas exist, and what their users can log in with."""

    def __init__(self) -> None:
        super().__init__()
        self.schemas: dict[str, tuple[SchemaOwner, list[str]]] = {}
        self.passwords: dict[str, str] = {}

    async def provide(
        self, login: Mapping[str, str], owner: SchemaOwner, password: str, readers: Collection[str]
    ) -> None:
        """Provide a schema and its user."""
        self.schemas[owner.schema] = owner, sorted(readers)
        self.passwords[owner.user] = password

    async def drop(self, login: Mapping[str, str], owner: SchemaOwner) -> None:
        """Delete a schema and its user."""
        self.schemas.pop(owner.schema, None)
        self.passwords.pop(owner.user, None)

    def failure(self, message: str) -> DatabaseError:
        """Return what the operator gets when a call fails."""
        return DatabaseError("Unavailable", message)


def password_works(world: World) -> bool:
    """Return whether the password in each Secret is that of the user."""
    logins = [decoded(each) for each in world.objects(Secret) if each.metadata.name.endswith("-login")]
    return all(world.external(Servers).passwords.get(each["PGUSER"]) == each["PGPASSWORD"] for each in logins)


def add_in_world(manager: Manager, world: World) -> None:
    """Add the operator with the servers of a simulated world."""
    add_schemas(manager, world.external(Servers))


@pytest.mark.slow("forty runs of the operator")
def test_survives(explore: Explore) -> None:
    """No crash, lost answer, stale view, failed call or meddling user breaks it: every login works in the end."""
    explore(add_in_world, budget=40, invariants=[eventually("the password in each Secret works", password_works)])
