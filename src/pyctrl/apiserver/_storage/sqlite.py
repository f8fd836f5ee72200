"""Backend of a storage in a SQLite file with a write-ahead log. The reasons are in docs/design/storage.md."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from zlib import crc32

from pyctrl.apiserver._storage.backend import BackendState, Revision
from pyctrl.errors import StorageError

if TYPE_CHECKING:
    import sqlite3

__all__ = ["SQLiteBackend"]

APPLICATION_ID = 0x70794374  # "pyCt", in the header of the file
FORMAT = 1  # of the tables below

_TABLES = """
CREATE TABLE revisions (
    version INTEGER PRIMARY KEY,
    api_group TEXT NOT NULL,
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    data BLOB,
    checksum INTEGER NOT NULL
);
CREATE TABLE compactions (
    api_group TEXT NOT NULL,
    resource TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (api_group, resource)
) WITHOUT ROWID;
CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
"""
_INSERT = "INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?)"
_COMPACT = "INSERT OR REPLACE INTO compactions VALUES (?, ?, ?)"


class SQLiteBackend:
    """Keeps a storage in one SQLite file, for `ApiServer(backend=...)`.

        with SQLiteBackend(Path("state.db")) as backend:
            server = ApiServer(backend=backend)

    Acknowledged writes survive the end of the process, also by SIGKILL. They survive a power failure with `fsync`;
    without it the last ones may be lost, but what is left is consistent. The file contains Secrets and signing keys and
    is readable by its owner only. One process at a time can open it; beside it are `FILE-wal` and, after a crash, its
    uncommitted rest, so copy all of them.

    Args:
        path: The file; created if it does not exist. Its directory must exist.
        fsync: Wait for the disk at each write, as etcd does: some milliseconds.

    Raises:
        StorageError: The file is in use, is not pyctrl's, has another format, or cannot be opened.
    """

    def __init__(self, path: Path, *, fsync: bool = False) -> None:
        self._path = path
        with self._errors():
            _create_private(path)
            self._connection = _connect(path, "FULL" if fsync else "NORMAL")
            try:
                self._check_format()
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Afterwards every write raises."""
        with suppress(_sqlite_error()):
            self._connection.close()

    def load(self) -> BackendState:
        """Return everything that is stored, with checked checksums."""
        with self._errors():
            compactions = self._connection.execute("SELECT * FROM compactions").fetchall()
            compacted = {(group, resource): version for group, resource, version in compactions}
            revisions = [self._revision(row) for row in self._connection.execute("SELECT * FROM revisions ORDER BY 1")]
        newest = revisions[-1].version if revisions else 0
        version = max([newest, *compacted.values()])
        return BackendState(version, compacted, revisions)

    def write(self, revision: Revision) -> None:
        """Store a revision."""
        with self._errors():
            self._connection.execute(_INSERT, (*revision, _checksum(revision)))

    def compact(self, group: str, resource: str, version: int, dropped: Iterable[int]) -> None:
        """Drop revisions. Their space in the file is reused."""
        with self._transaction() as connection:
            connection.executemany("DELETE FROM revisions WHERE version = ?", ((each,) for each in dropped))
            connection.execute(_COMPACT, (group, resource, version))

    def restore(self, revisions: Iterable[Revision], compacted: Mapping[tuple[str, str], int]) -> None:
        """Replace all revisions and compactions."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM revisions")
            connection.execute("DELETE FROM compactions")
            connection.executemany(_INSERT, ((*each, _checksum(each)) for each in revisions))
            connection.executemany(_COMPACT, ((*key, version) for key, version in compacted.items()))

    def find_secret(self, name: str) -> bytes | None:
        """Return a secret of the server; None if it is not stored."""
        with self._errors():
            row = self._connection.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def put_secret(self, name: str, value: bytes) -> None:
        """Store a secret of the server."""
        with self._errors():
            self._connection.execute("INSERT OR REPLACE INTO secrets VALUES (?, ?)", (name, value))

    def _revision(self, row: tuple[Any, ...]) -> Revision:
        revision = Revision(*row[:-1])
        if row[-1] != _checksum(revision):
            raise StorageError(
                self._path,
                f"is damaged: the checksum of version {revision.version} does not match; "
                "restore a copy of the file, or start with an empty directory",
            )
        return revision

    def _check_format(self) -> None:
        """Create the tables of a new file; refuse a file of another program or another format."""
        application, found = self._pragma("application_id"), self._pragma("user_version")
        if (application, found) == (APPLICATION_ID, FORMAT):
            return
        if application == APPLICATION_ID:
            raise StorageError(
                self._path,
                f"has format {found} and this pyctrl reads format {FORMAT}; "
                "use the version of pyctrl that wrote it, or an empty directory",
            )
        if self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            raise StorageError(self._path, "was not written by pyctrl; use an empty directory")
        with self._transaction() as connection:
            for statement in _TABLES.split(";")[:-1]:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _pragma(self, name: str) -> int:
        value: int = self._connection.execute(f"PRAGMA {name}").fetchone()[0]
        return value

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of SQLite and of the file system into `StorageError`."""
        try:
            yield
        except OSError as error:
            raise StorageError(self._path, f"cannot be opened: {error.strerror}") from error
        except _sqlite_error() as error:
            raise StorageError(self._path, _explained(error)) from error


def _create_private(path: Path) -> None:
    """Create the file readable by its owner only; SQLite gives its mode to the files beside it."""
    # An existing file is not opened: closing it would drop the locks that another connection of this process has on it.
    if not path.exists():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _connect(path: Path, synchronous: str) -> sqlite3.Connection:
    """Open the file and lock it. The lock ends with the process."""
    import sqlite3  # here: only servers with a backend need it

    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("BEGIN EXCLUSIVE")  # takes the lock now, not with the first write
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _sqlite_error() -> type[Exception]:
    import sqlite3  # here: see _connect

    return sqlite3.Error


def _explained(error: Exception) -> str:
    text = str(error)
    if "locked" in text:
        return "another server uses it; stop that one, or use another directory"
    if "not a database" in text:
        return "is not a database of pyctrl; use an empty directory"
    if "malformed" in text:
        return "is damaged; restore a copy of the file, or start with an empty directory"
    return text


def _checksum(revision: Revision) -> int:
    head = f"{revision.version} {revision.group} {revision.resource} {revision.key} {revision.data is None}"
    return crc32(revision.data or b"", crc32(head.encode()))
