"""A PostgreSQL server for tests, from the binaries of this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["HOW_TO_INSTALL", "find_binaries", "postgres_server"]

HOW_TO_INSTALL = (
    "PostgreSQL is not installed here; on Debian and Ubuntu: apt-get install postgresql, on macOS: brew install "
    "postgresql; binaries elsewhere are named by PGBIN=DIRECTORY"
)
PASSWORD = "the-password-of-the-administrator"


def find_binaries() -> Path | None:
    """Return the directory of initdb and pg_ctl: of PGBIN, of PATH, or where Debian has the newest; None without."""
    if directory := os.environ.get("PGBIN"):
        return Path(directory)
    if found := shutil.which("pg_ctl"):
        return Path(found).parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda file: float(file.parts[-3]))
    return versions[-1].parent if versions else None


@contextmanager
def postgres_server(binaries: Path) -> Iterator[dict[str, str]]:
    """Run a server on a free port of 127.0.0.1 during the block; return the login of its superuser."""
    user = "postgres" if os.getuid() == 0 else None  # initdb refuses to run as root; packages create this user
    directory = Path(tempfile.mkdtemp(prefix="pyctrl-postgres-"))
    try:
        (directory / "password").write_text(PASSWORD)
        for path in (directory, directory / "password"):
            if user is not None:
                shutil.chown(path, user)
        port, data = _free_port(), str(directory / "data")

        def run(program: str, *arguments: str) -> None:
            command = [str(binaries / program), *arguments]
            subprocess.run(command, check=True, cwd=directory, user=user, stdout=subprocess.DEVNULL)

        run("initdb", "-D", data, "-U", "admin", "-A", "scram-sha-256", "--pwfile=password", "--no-sync", "-E", "UTF8")
        options = f"-F -p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c log_statement=all"
        run("pg_ctl", "-D", data, "-l", str(directory / "log"), "-o", options, "-w", "start")
        try:
            yield {
                "PGHOST": "127.0.0.1",
                "PGPORT": str(port),
                "PGDATABASE": "postgres",
                "PGUSER": "admin",
                "PGPASSWORD": PASSWORD,
                "LOG": str(directory / "log"),
            }
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(directory)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
