"""Kill `pyctrl apiserver --data` at random points, restart it, and compare what it has with what it acknowledged.

    python tools/kill_apiserver.py --kills 1000

Writers create, update and delete ConfigMaps until SIGKILL ends the server. The next run must have the last acknowledged
state of each object, or that of the one write that was not answered. Objects must be whole and keep their uids, no
resource version may be given twice, and a watch from a version before the kill must have every acknowledged change. A
short history makes compactions frequent. Exit status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

PATH = "/api/v1/namespaces/default/configmaps"
HISTORY = 40  # events; compactions run after each 40
NAMES = 6  # objects of each writer
SIZES = (20, 500, 20_000, 200_000)  # characters
PATIENCE = 30.0  # seconds


@dataclass(frozen=True, slots=True)
class State:
    """An object: its uid and the digest of its text. A deleted one has neither."""

    uid: str = ""
    digest: str = ""


@dataclass
class Writer:
    """Writes its own objects and records what was acknowledged."""

    name: str
    random: Random
    versions: dict[int, str]  # of all writers: acknowledged version, name
    acknowledged: dict[str, State] = field(default_factory=dict)
    pending: tuple[str, State] | None = None
    problems: list[str] = field(default_factory=list)

    def run(self, port: int) -> None:
        """Write until the connection breaks."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            while not self.problems:
                self._write(connection)
        except (OSError, http.client.HTTPException):
            pass  # killed
        finally:
            connection.close()

    def _write(self, connection: http.client.HTTPConnection) -> None:
        name = f"{self.name}-{self.random.randrange(NAMES)}"
        state = self.acknowledged.get(name, State())
        if state.uid and self.random.random() < 0.3:
            self.pending = name, State()
            code, answer = send(connection, "DELETE", f"{PATH}/{name}")
            self._acknowledge(name, State(), code, answer)
            return
        text = self.random.choice("xyz") * self.random.choice(SIZES) + str(self.random.random())
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.pending = name, State(state.uid, digest)
        body = {"metadata": {"name": name}, "data": {"text": text, "digest": digest}}
        if state.uid:
            code, answer = send(connection, "PUT", f"{PATH}/{name}", body)
        else:
            code, answer = send(connection, "POST", PATH, body)
        uid = answer.get("metadata", {}).get("uid", "")
        if state.uid and uid != state.uid:
            self.problems.append(f"{name}: the uid changed from {state.uid} to {uid}")
        self._acknowledge(name, State(uid, digest), code, answer)

    def _acknowledge(self, name: str, state: State, code: int, answer: Any) -> None:
        if code not in (200, 201):
            self.problems.append(f"{name}: {code} {str(answer)[:200]}")
            return
        self.acknowledged[name], self.pending = state, None
        version = answer["metadata"].get("resourceVersion")
        if version is None:  # the Status of a delete has none
            return
        if int(version) in self.versions:
            self.problems.append(f"{name}: version {version} was given twice")
        self.versions[int(version)] = name

    def compare(self, live: dict[str, State]) -> None:
        """Compare the objects after a restart with those that were acknowledged."""
        unanswered, wanted = self.pending or ("", State())
        for name in {*self.acknowledged, unanswered, *(each for each in live if each.startswith(f"{self.name}-"))} - {
            ""
        }:
            found, acknowledged = live.get(name, State()), self.acknowledged.get(name, State())
            if found == acknowledged:
                continue
            if name == unanswered and found.digest == wanted.digest and wanted.uid in ("", found.uid):
                self.acknowledged[name] = found
                continue
            self.problems.append(f"{name}: acknowledged {acknowledged}, found {found}")
        self.pending = None


def send(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """Send a request; return the code and the decoded body."""
    data = None if body is None else json.dumps(body)
    connection.request(method, path, body=data, headers={"Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def start(directory: Path, *more: str) -> tuple[subprocess.Popen[str], int]:
    """Start a server on the directory; return it and its port."""
    flags = ["--data", str(directory), "--history", str(HISTORY), "--insecure-http", "--no-controllers", "--no-kubelet"]
    command = [sys.executable, "-m", "pyctrl", "apiserver", *flags, *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.startswith("ready "):
        raise SystemExit(f"the server did not start after a kill: {line!r}, exit code {process.wait()}")
    return process, int(line.rsplit(":", 1)[1])


def check(port: int, writers: list[Writer], since: int) -> tuple[int, list[str]]:
    """Compare a restarted server with the writers; return its version and what differs."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    _, listed = send(connection, "GET", PATH)
    version, versions = int(listed["metadata"]["resourceVersion"]), writers[0].versions
    problems = []
    if version < max(versions, default=0):
        problems.append(f"version {version} is before the acknowledged version {max(versions)}")
    live: dict[str, State] = {}
    for each in listed["items"]:
        name, data = each["metadata"]["name"], each.get("data", {})
        if "digest" not in data:
            continue  # kube-root-ca.crt and the like
        if hashlib.sha256(data["text"].encode()).hexdigest() != data["digest"]:
            problems.append(f"{name} is torn")
        live[name] = State(each["metadata"]["uid"], data["digest"])
    for writer in writers:
        writer.compare(live)
        problems += writer.problems
    connection.close()
    return version, problems + check_watch(port, versions, since, version)


def check_watch(port: int, versions: dict[int, str], since: int, version: int) -> list[str]:
    """Check that a watch from an earlier version has every acknowledged change since, or that it is too old."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    wanted = {each for each in versions if since < each <= version}
    connection.request("GET", f"{PATH}?watch=1&resourceVersion={since}")
    response, seen, last = connection.getresponse(), set[int](), since
    problems = []
    while wanted - seen and (line := response.readline()):
        event = json.loads(line)
        if event["type"] == "ERROR":
            break
        at = int(event["object"]["metadata"]["resourceVersion"])
        if at <= last:
            problems.append(f"a watch has version {at} after {last}")
        last = at
        seen.add(at)
    else:
        if wanted - seen:
            problems.append(f"a watch from {since} lacks {sorted(wanted - seen)[:5]}")
    connection.close()
    return problems


def main() -> int:
    """Run the kills; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fsync", action="store_true")
    options = parser.parse_args()
    random, versions, since = Random(options.seed), dict[int, str](), 0
    writers = [Writer(f"w{number}", Random(random.random()), versions) for number in range(4)]
    with tempfile.TemporaryDirectory(prefix="pyctrl-kill-") as directory:
        for kill in range(options.kills + 1):
            process, port = start(Path(directory), *(["--fsync"] if options.fsync else []))
            try:
                version, problems = check(port, writers, since)
                if problems:
                    print(f"after kill {kill}:", *problems, sep="\n  ")
                    return 1
                since = max(version - random.choice((0, 5, 30, 300)), 1)
                threads = [threading.Thread(target=writer.run, args=(port,)) for writer in writers]
                for thread in threads:
                    thread.start()
                time.sleep(random.choice((0.0, 0.02, 0.1, 0.4)) * random.random())
            finally:
                process.kill()
                process.communicate()
            for thread in threads:
                thread.join()
        size = sum(each.stat().st_size for each in Path(directory).iterdir())
    print(f"{options.kills} kills, {len(versions)} acknowledged writes, {size} bytes at the end: nothing was lost")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
