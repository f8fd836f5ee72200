"""Guestbook: entries in an SQLite database, behind the API of Kubernetes.

An extension API server: the table is the storage, so that other programs can use it as well. Entries and their resource
versions survive restarts.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator
from functools import cached_property

from pydantic import Field

from pyctrl.api import KubernetesObject, ListMeta, PrinterColumn
from pyctrl.client import ObjectList
from pyctrl.errors import AlreadyExists, Conflict, Expired
from pyctrl.extension_apiserver import APIResource, ChangeType, ExtensionAPIServer, StorageRequest
from pyctrl.manager import Manager

SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (namespace TEXT, name TEXT, object TEXT, PRIMARY KEY (namespace, name));
CREATE TABLE IF NOT EXISTS changes (version INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT, namespace TEXT, object TEXT);
"""
HISTORY = 1000  # changes that a watch can start after

Change = tuple[ChangeType, "Entry"]


class Entry(
    KubernetesObject,
    group="guestbook.example.com",
    version="v1",
    columns=(PrinterColumn("Author", ".author"), PrinterColumn("Message", ".message")),
):
    """An entry of the guestbook."""

    author: str = Field(min_length=1)
    message: str = Field("", max_length=280)


class Entries:
    """The storage of entries. Each change has the next version; the latest are kept for watches."""

    def __init__(self, database: str) -> None:
        self._file = database
        self._changed = asyncio.Event()

    @cached_property
    def _database(self) -> sqlite3.Connection:
        """The database, opened with the first request."""
        database = sqlite3.connect(self._file)
        database.executescript(SCHEMA)
        return database

    async def get(self, request: StorageRequest, name: str) -> Entry | None:
        """Return an entry."""
        query = "SELECT object FROM entries WHERE namespace = ? AND name = ?"
        row = self._database.execute(query, (request.namespace, name)).fetchone()
        return None if row is None else Entry.from_wire(row[0])

    async def list(self, request: StorageRequest) -> ObjectList[Entry]:
        """Return the entries with the version of the last change."""
        query = "SELECT object FROM entries WHERE ? IN ('', namespace) ORDER BY namespace, name"
        rows = self._database.execute(query, (request.namespace,))
        return ObjectList([Entry.from_wire(row[0]) for row in rows], ListMeta(resource_version=str(self._version)))

    async def watch(self, request: StorageRequest) -> AsyncIterator[Change]:
        """Yield the changes after a version."""
        position = int(request.resource_version or self._version)
        if not request.resource_version:
            for entry in await self.list(request):
                yield "ADDED", entry
        if position < self._version - HISTORY:
            raise Expired(f"the changes after version {position} are no longer known")
        query = "SELECT version, type, object FROM changes WHERE version > ? AND ? IN ('', namespace) ORDER BY version"
        while True:
            changed = self._changed
            for version, type_, text in self._database.execute(query, (position, request.namespace)).fetchall():
                position = version
                yield type_, Entry.from_wire(text)
            await changed.wait()

    async def create(self, request: StorageRequest, entry: Entry) -> Entry:
        """Insert an entry."""
        if await self.get(request, entry.metadata.name) is not None:
            raise AlreadyExists(f"there is an entry {entry.metadata.name}")
        return self._write("ADDED", entry)

    async def update(self, request: StorageRequest, entry: Entry, old: Entry) -> Entry:
        """Replace an entry that is still the old one."""
        found = await self.get(request, entry.metadata.name)
        if found is None or found.metadata.resource_version != old.metadata.resource_version:
            raise Conflict(f"the entry {entry.metadata.name} has changed")
        return self._write("MODIFIED", entry)

    async def delete(self, request: StorageRequest, entry: Entry) -> None:
        """Delete an entry."""
        self._write("DELETED", entry)

    @property
    def _version(self) -> int:
        found: int = self._database.execute("SELECT COALESCE(MAX(version), 0) FROM changes").fetchone()[0]
        return found

    def _write(self, type_: ChangeType, entry: Entry) -> Entry:
        """Write an entry and the change in one transaction, and wake the watches."""
        entry.metadata.resource_version = str(self._version + 1)
        namespace, name, text = entry.metadata.namespace, entry.metadata.name, json.dumps(entry.to_wire())
        with self._database as database:
            change = "INSERT INTO changes (version, type, namespace, object) VALUES (?, ?, ?, ?)"
            database.execute(change, (self._version + 1, type_, namespace, text))
            database.execute("DELETE FROM entries WHERE namespace = ? AND name = ?", (namespace, name))
            if type_ != "DELETED":
                database.execute("INSERT INTO entries VALUES (?, ?, ?)", (namespace, name, text))
            database.execute("DELETE FROM changes WHERE version <= ?", (self._version - HISTORY,))
        self._changed.set()
        self._changed = asyncio.Event()
        return entry


def add_guestbook(manager: Manager) -> None:
    """Serve the entries of the database of GUESTBOOK; `pyctrl run` calls this."""
    storage = Entries(os.environ.get("GUESTBOOK", "guestbook.db"))
    manager.add(ExtensionAPIServer(APIResource(Entry, storage), client=manager.live_client))
