"""Storage in a SQLite file: what survives, and which files are refused."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from pyctrl.apiserver import Revision, SQLiteBackend
from pyctrl.errors import StorageError

FULL_DISK = """
import json, pathlib, resource, sys
from pyctrl.apiserver import ApiServer, SQLiteBackend
server = ApiServer(backend=SQLiteBackend(pathlib.Path(sys.argv[1])))
path = "/api/v1/namespaces/default/configmaps"
size = max(each.stat().st_size for each in pathlib.Path(sys.argv[1]).parent.iterdir()) + 350_000
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
answers = []
for number in range(40):
    body = {"metadata": {"name": f"n{number}"}, "data": {"text": "x" * 100_000}}
    answer = server.handle_nowait("POST", path, [], {}, json.dumps(body).encode())
    answers.append((answer.status, server.storage.version))
    if answer.status != 201:
        break
listed = json.loads(server.handle_nowait("GET", path).body)
print(json.dumps([answers, json.loads(answer.body), [each["metadata"]["name"] for each in listed["items"]]]))
"""


def revision(version: int, key: str = "n/a", data: bytes | None = b"{}") -> Revision:
    return Revision(version, "", "configmaps", key, data)


def written(path: Path, *revisions: Revision) -> None:
    with SQLiteBackend(path) as backend:
        for each in revisions:
            backend.write(each)


def versions(path: Path) -> list[int]:
    with SQLiteBackend(path) as backend:
        return [each.version for each in backend.load().revisions]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def test_revisions_are_loaded_in_their_order(path: Path) -> None:
    """The next run has every revision, also removals, oldest first, and the newest version."""
    revisions = [revision(5), revision(7, "n/b", b'{"x":1}'), revision(9, "n/b", None)]
    written(path, *revisions)
    with SQLiteBackend(path) as backend:
        state = backend.load()
    assert (state.version, state.compacted, list(state.revisions)) == (9, {}, revisions)


def test_a_compaction_drops_revisions_and_keeps_the_version(path: Path) -> None:
    """After a compaction of the newest revision, the version is still known, so that it is not given again."""
    with SQLiteBackend(path) as backend:
        for version in (5, 6, 7):
            backend.write(revision(version))
        backend.compact("", "configmaps", 7, [5, 7])
    with SQLiteBackend(path) as backend:
        state = backend.load()
    assert (state.version, state.compacted) == (7, {("", "configmaps"): 7})
    assert [each.version for each in state.revisions] == [6]


def test_a_restore_replaces_everything_except_secrets(path: Path) -> None:
    """A restored backend has the given revisions and compactions, and the secrets that it had."""
    with SQLiteBackend(path) as backend:
        backend.write(revision(5))
        backend.compact("x.io", "things", 4, [])
        backend.put_secret("key", b"value")
        backend.restore([revision(3)], {("", "configmaps"): 1005})
    with SQLiteBackend(path) as backend:
        state = backend.load()
        assert (state.version, state.compacted) == (1005, {("", "configmaps"): 1005})
        assert list(state.revisions) == [revision(3)]
        assert (backend.find_secret("key"), backend.find_secret("other")) == (b"value", None)


def test_the_file_is_private(path: Path) -> None:
    """Only the owner may read the file and its write-ahead log, because they contain Secrets and keys."""
    with SQLiteBackend(path) as backend:
        backend.write(revision(5))
        modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
    assert modes == {"state.db": 0o600, "state.db-wal": 0o600}


def test_one_server_uses_a_file(path: Path) -> None:
    """A second server on the file is refused until the first one has closed it; the first one keeps its lock."""
    with SQLiteBackend(path) as backend:
        for _ in range(2):
            with pytest.raises(StorageError, match=r"state\.db: another server uses it"):
                SQLiteBackend(path)
        backend.write(revision(5))
    assert versions(path) == [5]


def test_a_file_of_another_program_is_left_alone(path: Path) -> None:
    """A database of another program, and a file that is no database, are refused and not changed."""
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(StorageError, match="was not written by pyctrl; use an empty directory"):
        SQLiteBackend(path)
    path.write_bytes(b"notes " * 1000)
    with pytest.raises(StorageError, match="is not a database of pyctrl"):
        SQLiteBackend(path)
    assert path.read_bytes() == b"notes " * 1000


def test_a_file_of_another_format_is_refused(path: Path) -> None:
    """The error names both formats."""
    written(path)
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 9")
    newer.close()
    with pytest.raises(StorageError, match="has format 9 and this pyctrl reads format 1; use the version of pyctrl"):
        SQLiteBackend(path)


def test_a_directory_that_does_not_exist(path: Path) -> None:
    """The error has the path and the reason of the system."""
    with pytest.raises(StorageError, match=r"x/state\.db: cannot be opened: No such file or directory"):
        SQLiteBackend(path.parent / "x" / "state.db")


def test_a_torn_end_of_the_log_loses_that_write_only(path: Path, tmp_path: Path) -> None:
    """If the write-ahead log ends in the middle of a write, or in noise, all writes before it are loaded."""
    with SQLiteBackend(path) as backend:
        backend.write(revision(5))
        whole = path.read_bytes(), path.with_name("state.db-wal").read_bytes()
        backend.write(revision(6, "n/b"))
        log = path.with_name("state.db-wal").read_bytes()
    ends = {"cut": log[:-1000], "noise": log[:-1000] + b"\xff" * 1000, "appended": log + b"\xee" * 5000}
    for name, end in ends.items():
        copy = tmp_path / name / "state.db"
        copy.parent.mkdir()
        copy.write_bytes(whole[0])
        copy.with_name("state.db-wal").write_bytes(end)
        assert versions(copy) == ([5, 6] if name == "appended" else [5]), name


def test_a_damaged_object_is_noticed(path: Path) -> None:
    """An object that was changed outside of pyctrl is an error at the start, not a wrong answer later."""
    written(path, revision(5, data=b'{"data":"good"}'))
    path.write_bytes(path.read_bytes().replace(b"good", b"evil"))
    with SQLiteBackend(path) as backend, pytest.raises(StorageError, match="the checksum of version 5 does not match"):
        backend.load()


def test_a_truncated_file_is_noticed(path: Path) -> None:
    """A file that lacks its end is reported as damaged."""
    written(path, *(revision(version, data=b"x" * 4000) for version in range(1, 40)))
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(StorageError, match="is damaged"), SQLiteBackend(path) as backend:
        backend.load()


def test_a_closed_backend_refuses_writes(path: Path) -> None:
    """A write after the end is an error, not a loss."""
    backend = SQLiteBackend(path)
    backend.close()
    backend.close()
    with pytest.raises(StorageError):
        backend.write(revision(5))


@pytest.mark.slow("starts a process, whose files may not grow")
def test_a_full_disk(path: Path) -> None:
    """On a full disk a write gets status 500 with the reason; it changes neither objects nor the version."""
    ran = subprocess.run([sys.executable, "-c", FULL_DISK, path], capture_output=True, text=True, check=True)
    answers, status, names = json.loads(ran.stdout)
    codes = [code for code, _ in answers]
    assert codes == [201, 201, 201, 500]
    assert status["message"] == "the storage refused the write: disk I/O error"  # the error of the limit of files
    assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", 500)
    assert answers[-1][1] == answers[-2][1]
    assert sorted(names) == sorted(f"n{number}" for number in range(len(codes) - 1))
    with SQLiteBackend(path) as backend:
        keys = {each.key for each in backend.load().revisions if each.resource == "configmaps"}
    assert keys >= {f"default/{name}" for name in names}
    assert f"default/n{len(codes) - 1}" not in keys
