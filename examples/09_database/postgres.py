"""The SQL of the operator: one schema, and the user that owns it, in a PostgreSQL database.

Identifiers are quoted by psycopg. Passwords are sent as SCRAM verifiers, so that neither the server's log nor an error
message can contain one. Schemas and users that the operator creates have a comment that names their object. It changes
no others: otherwise an object with ``user: postgres`` would take over the database.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Composed, Identifier, Literal

from pyctrl.errors import PyctrlError

__all__ = ["DatabaseError", "Postgres", "SchemaOwner", "transaction"]

#: The keys of Secrets, which libpq reads from the environment, and the connection parameters of the same meaning.
PARAMETERS = {"PGHOST": "host", "PGPORT": "port", "PGDATABASE": "dbname", "PGUSER": "user", "PGPASSWORD": "password"}
CONNECT_SECONDS = 5


class DatabaseError(PyctrlError):
    """Raised when the database is not what a Schema describes. It can be retried.

    As an error of pyctrl it is logged as one line, without a traceback.

    Attributes:
        reason: ``Unavailable``, ``Conflict`` or ``Failed``.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@asynccontextmanager
async def transaction(login: Mapping[str, str]) -> AsyncIterator[psycopg.AsyncConnection]:
    """Connect, and commit at the end of the block.

    Raises:
        DatabaseError: the server cannot be reached, or rejects the login or a statement. The message has the first line
            of the server's error only, and there is no cause: other lines quote the statement.
    """
    parameters = {PARAMETERS[key]: value for key, value in login.items() if key in PARAMETERS}
    try:
        text = make_conninfo(**parameters, connect_timeout=CONNECT_SECONDS)
        async with await psycopg.AsyncConnection.connect(text) as connection:
            yield connection
    except psycopg.Error as error:
        reason = "Unavailable" if isinstance(error, psycopg.OperationalError) else "Failed"
        raise DatabaseError(reason, error.diag.message_primary or str(error).partition("\n")[0]) from None


@dataclass(frozen=True, slots=True)
class SchemaOwner:
    """A schema and the user that owns it. Each method can be repeated.

    Attributes:
        schema: the name of the schema.
        user: the name of the user.
        comment: marks both as created for one object.
    """

    schema: str
    user: str
    comment: str

    async def provide(self, connection: psycopg.AsyncConnection, password: str) -> None:
        """Create the user and the schema if they are missing, and set the password of the user."""
        user, schema = Identifier(self.user), Identifier(self.schema)
        if not await self._owns_user(connection):
            await connection.execute(SQL("CREATE ROLE {}").format(user))
            await connection.execute(SQL("COMMENT ON ROLE {} IS {}").format(user, Literal(self.comment)))
        verifier = connection.pgconn.encrypt_password(password.encode(), self.user.encode(), b"scram-sha-256").decode()
        await connection.execute(SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(user, Literal(verifier)))
        await connection.execute(SQL("ALTER ROLE {} SET search_path = {}").format(user, schema))
        if not await self._owns_schema(connection):
            await connection.execute(SQL("CREATE SCHEMA {}").format(schema))
            await connection.execute(SQL("COMMENT ON SCHEMA {} IS {}").format(schema, Literal(self.comment)))
        await connection.execute(SQL("ALTER SCHEMA {} OWNER TO {}").format(schema, user))

    async def grant_reading(self, connection: psycopg.AsyncConnection, readers: Collection[str]) -> None:
        """Let these users read all tables, present and future, and no other users."""
        for reader in await self._readers(connection) - set(readers):
            for statement in self._privileges(reader, SQL("REVOKE"), SQL("FROM")):
                await connection.execute(statement)
        for reader in sorted(readers):
            for statement in self._privileges(reader, SQL("GRANT"), SQL("TO")):
                await connection.execute(statement)

    async def drop(self, connection: psycopg.AsyncConnection) -> None:
        """Delete the schema with its tables, and the user, unless they are already gone or not ours."""
        user, schema = Identifier(self.user), Identifier(self.schema)
        if await self._comment_of_schema(connection) == self.comment:
            await connection.execute(SQL("DROP SCHEMA {} CASCADE").format(schema))
        if await self._comment_of_user(connection) == self.comment:
            await connection.execute(SQL("DROP OWNED BY {}").format(user))  # its privileges elsewhere
            await connection.execute(SQL("DROP ROLE {}").format(user))

    def _privileges(self, reader: str, verb: SQL, preposition: SQL) -> list[Composed]:
        names = {"schema": Identifier(self.schema), "user": Identifier(self.user), "reader": Identifier(reader)}
        words = {"verb": verb, "preposition": preposition}
        schema_privileges = SQL("{verb} USAGE ON SCHEMA {schema} {preposition} {reader}")
        present = SQL("{verb} SELECT ON ALL TABLES IN SCHEMA {schema} {preposition} {reader}")
        select = "{verb} SELECT ON TABLES {preposition} {reader}"
        future = SQL("ALTER DEFAULT PRIVILEGES FOR ROLE {user} IN SCHEMA {schema} " + select)
        return [each.format(**names, **words) for each in (schema_privileges, present, future)]

    async def _readers(self, connection: psycopg.AsyncConnection) -> set[str]:
        """Return the users with privileges on the schema, without its owner."""
        query = (
            "SELECT DISTINCT role.rolname FROM pg_namespace, aclexplode(nspacl) AS acl JOIN pg_roles AS role"
            " ON role.oid = acl.grantee WHERE nspname = %s AND acl.grantee <> nspowner"
        )
        cursor = await connection.execute(query, [self.schema])
        return {str(name) for (name,) in await cursor.fetchall()}

    async def _owns_user(self, connection: psycopg.AsyncConnection) -> bool:
        return self._check("user", self.user, await self._comment_of_user(connection))

    async def _owns_schema(self, connection: psycopg.AsyncConnection) -> bool:
        return self._check("schema", self.schema, await self._comment_of_schema(connection))

    def _check(self, what: str, name: str, comment: str | None) -> bool:
        """Return whether something of this name exists. Raises DatabaseError if it belongs to another object."""
        if comment not in (None, self.comment):
            mark = f"; its comment is {comment!r}" if comment else ""
            raise DatabaseError("Conflict", f"The {what} {name!r} exists and was not created for this Schema{mark}.")
        return comment is not None

    async def _comment_of_user(self, connection: psycopg.AsyncConnection) -> str | None:
        """Return the comment of the user; "" without one, None if the user does not exist."""
        query = "SELECT coalesce(shobj_description(oid, 'pg_authid'), '') FROM pg_roles WHERE rolname = %s"
        found = await (await connection.execute(query, [self.user])).fetchone()
        return None if found is None else str(found[0])

    async def _comment_of_schema(self, connection: psycopg.AsyncConnection) -> str | None:
        """Return the comment of the schema; "" without one, None if it does not exist."""
        query = "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = %s"
        found = await (await connection.execute(query, [self.schema])).fetchone()
        return None if found is None else str(found[0])


class Postgres:
    """What the operator asks of the servers of its logins; each call is a transaction. Tests replace it."""

    async def provide(
        self, login: Mapping[str, str], owner: SchemaOwner, password: str, readers: Collection[str]
    ) -> None:
        """Provide a schema and its user, and let these other users read it. Raises DatabaseError."""
        async with transaction(login) as connection:
            await owner.provide(connection, password)
            await owner.grant_reading(connection, readers)

    async def drop(self, login: Mapping[str, str], owner: SchemaOwner) -> None:
        """Delete a schema and its user. Raises DatabaseError."""
        async with transaction(login) as connection:
            await owner.drop(connection)
