"""Record the answers of an API server to scenarios, for `test_recordings.py`.

    python -m tests.conformance.record SCENARIO.json ... --server URL --token T [--plain-token T] [--out DIR]

A scenario is a case without answers (a case with answers is recorded again): a `name`, a description `about`, a list of
`steps`. Each runs twice, in separate namespaces; a step with different comparable answers is marked `loose`. `cleanup`
names the objects that the scenario creates outside its namespace. A scenario is not recorded if its setup fails, that
is, if a step that later ones rely on is refused. A create that must be refused is marked `refused`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import ssl
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from tests.conformance._recording import (
    CASES,
    JSON,
    Case,
    comparable,
    differences,
    fill,
    holds,
    setup_failures,
)

POLL_SECONDS = 0.05
FURNITURE = ("configmaps/kube-root-ca.crt", "serviceaccounts/default")


class Server:
    """A server to record: one connection per request, certificates not verified."""

    def __init__(self, url: str, tokens: Mapping[str, str]) -> None:
        self._url = urlsplit(url)
        self._tokens = tokens

    def open(self, request: JSON, seconds: float = 60) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Send a request and return the response, unread."""
        host, port = self._url.hostname or "", self._url.port
        connection = http.client.HTTPConnection(host, port, timeout=seconds)
        if self._url.scheme == "https":
            context = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection(host, port, context=context, timeout=seconds)
        headers: dict[str, str] = {"Accept": "application/json", **(request.get("headers") or {})}
        who = request.get("as", "admin")
        if token := who.removeprefix("token:") if who.startswith("token:") else self._tokens.get(who):
            headers["Authorization"] = f"Bearer {token}"
        body, data = request.get("body"), None
        if body is not None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        query = request.get("query")
        target = request["path"] + ("?" + urlencode(query, doseq=True) if query else "")
        connection.request(request.get("method", "GET"), target, body=data, headers=headers)
        return connection, connection.getresponse()

    def call(self, request: JSON) -> JSON:
        """Return the code, the warnings and the body of a response."""
        connection, response = self.open(request)
        raw = response.read()
        connection.close()
        observed: dict[str, JSON] = {"code": response.status}
        if warnings := response.headers.get_all("Warning"):
            observed["warnings"] = sorted(warnings)
        try:
            observed["body"] = json.loads(raw) if raw else None
        except ValueError:
            observed["text"] = raw.decode("utf-8", "replace").strip()
        return observed


class Run:
    """One run of a scenario."""

    def __init__(self, server: Server, scenario: JSON) -> None:
        self._server = server
        self._scenario = scenario
        self._answers: dict[str, JSON] = {}
        self.steps: list[JSON] = []
        self.observed: list[JSON] = []

    def run(self) -> None:
        """Create the namespace, run all steps, and clean up."""
        namespace = self._scenario["namespace"]
        self._clear()
        self._wait({"path": f"/api/v1/namespaces/{namespace}", "until": {"code": 404}, "timeout": 90})
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        self._server.call({"method": "POST", "path": "/api/v1/namespaces", "body": body})
        for thing in FURNITURE if self._scenario.get("controllers", True) else ():
            self._wait({"path": f"/api/v1/namespaces/{namespace}/{thing}", "until": {"code": 200}, "timeout": 30})
        for step in self._scenario["steps"]:
            self._run(step)
        self._clear()

    def _clear(self) -> None:
        """Delete the namespace and what the scenario makes outside it, also that of a run that was ended."""
        namespace = self._scenario["namespace"]
        path = f"/api/v1/namespaces/{namespace}"
        has_controllers = self._scenario.get("controllers", True)
        if not has_controllers:  # then nothing else empties the namespace, and objects in it may keep others
            Contents(self._server, namespace).delete()
        for each in self._scenario.get("cleanup", ()):
            self._server.call({"method": "DELETE", "path": each})
            if not has_controllers:
                self._server.call(without_finalizers(each))
        self._server.call({"method": "DELETE", "path": path})
        if not has_controllers:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}, "spec": {}}
            self._server.call({"method": "PUT", "path": f"{path}/finalize", "body": body})
        for each in self._scenario.get("cleanup", ()):
            self._wait({"path": each, "until": {"code": 404}, "timeout": 30})

    def _run(self, step: JSON) -> None:
        slot = len(self.steps)
        self.steps.append(step)
        self.observed.append(None)
        try:
            observed = self._observe(step)
        except (KeyError, IndexError, TypeError, OSError, http.client.HTTPException) as error:
            observed = {"code": 0, "text": f"{type(error).__name__}: {error}"}
        self._answers[step["id"]] = self.observed[slot] = observed

    def _observe(self, step: JSON) -> JSON:
        if "watch" in step:
            return self._watch(step["watch"])
        if "eventually" in step:
            return self._wait(fill(step["eventually"], self._answers))
        return self._server.call(fill(step["request"], self._answers))

    def _wait(self, request: JSON) -> JSON:
        end = time.monotonic() + request.get("timeout", 30)
        while True:
            observed = self._server.call(request)
            if holds(observed, request["until"]) or time.monotonic() > end:
                return observed
            time.sleep(POLL_SECONDS)

    def _watch(self, watch: JSON) -> JSON:
        spec = fill({key: value for key, value in watch.items() if key != "during"}, self._answers)
        seconds = spec.get("timeout", 10)
        connection, response = self._server.open(spec, seconds)
        if response.status != 200:
            raw = response.read()
            try:
                return {"code": response.status, "body": json.loads(raw)}
            except ValueError:
                return {"code": response.status, "text": raw.decode("utf-8", "replace").strip()}
        events: list[JSON] = []
        reader = threading.Thread(target=_read, args=(response, spec["events"], events), daemon=True)
        reader.start()
        for step in watch.get("during", ()):
            self._run(step)
        reader.join(seconds + 1)
        connection.close()
        return {"code": 200, "events": events[: spec["events"]]}


class Contents:
    """All objects of a namespace."""

    def __init__(self, server: Server, namespace: str) -> None:
        self._server = server
        self._namespace = namespace

    def delete(self) -> None:
        """Delete them, with their finalizers and without a grace period."""
        for path in [path for collection in self._collections() for path in self._objects(collection)]:
            self._server.call({"method": "DELETE", "path": path, "body": {"gracePeriodSeconds": 0}})
            self._server.call(without_finalizers(path))

    def _collections(self) -> Iterator[str]:
        for group in ("/api/v1", *self._groups()):
            for resource in self._answer(group).get("resources", ()):
                if resource["namespaced"] and {"list", "delete"} <= {*resource["verbs"]}:
                    yield f"{group}/namespaces/{self._namespace}/{resource['name']}"

    def _groups(self) -> Iterator[str]:
        for group in self._answer("/apis").get("groups", ()):
            yield f"/apis/{group['preferredVersion']['groupVersion']}"

    def _objects(self, collection: str) -> Iterator[str]:
        for item in self._answer(collection).get("items") or ():
            yield f"{collection}/{item['metadata']['name']}"

    def _answer(self, path: str) -> JSON:
        observed = self._server.call({"path": path})
        return observed["body"] if observed["code"] == 200 else {}


def without_finalizers(path: str) -> JSON:
    """Return the request that removes all finalizers of an object."""
    headers = {"Content-Type": "application/merge-patch+json"}
    return {"method": "PATCH", "path": path, "body": {"metadata": {"finalizers": None}}, "headers": headers}


def _read(response: http.client.HTTPResponse, count: int, events: list[JSON]) -> None:
    try:
        while len(events) < count:
            line = response.readline()
            if not line:
                events.append("closed")
                return
            if line.strip():
                events.append(json.loads(line))
    except OSError:
        events.append("timeout")


def record(server: Server, scenario: JSON, *, count: int) -> JSON:
    """Return a scenario with its answers, from several runs that reveal random values."""
    runs = []
    for _ in range(count):
        runs.append(Run(server, scenario))
        runs[-1].run()
    first, case = runs[0], case_of(scenario)
    if failed := list(setup_failures(first.steps, first.observed)):
        raise SystemExit(f"{case.name} is not recorded, its set-up failed:\n  " + "\n  ".join(failed))
    compared = [comparable(case, each.steps, each.observed) for each in runs]
    for index, (step, observed) in enumerate(zip(first.steps, first.observed, strict=True)):
        step["response"] = observed if case.managed else _without_managers(observed)
        if difference := next(differences(compared[0][index], compared[-1][index]), ""):
            step["loose"] = True
            sys.stderr.write(f"{case.name}/{step['id']} is loose: {difference}\n")
    return scenario


def case_of(scenario: JSON) -> Case:
    return Case(
        name=scenario["name"],
        namespace=scenario["namespace"],
        managed=scenario.get("managed", False),
        ignore=frozenset(scenario.get("ignore", ())),
        steps=scenario["steps"],
    )


def _without_managers(value: JSON) -> JSON:
    """Remove managed fields that are not compared and lengthen recordings."""
    if isinstance(value, list):
        return [_without_managers(each) for each in value]
    if isinstance(value, dict):
        return {key: _without_managers(each) for key, each in value.items() if key != "managedFields"}
    return value


def main() -> None:
    """Record the named scenarios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="+", type=Path)
    parser.add_argument("--server", required=True)
    parser.add_argument("--token", required=True, help="bearer token of an administrator")
    parser.add_argument("--plain-token", default="", help="bearer token of a user without rights")
    parser.add_argument("--runs", type=int, default=2, help="more than one shows what is chance; it is marked loose")
    parser.add_argument("--out", type=Path, default=CASES)
    arguments = parser.parse_args()
    server = Server(arguments.server, {"admin": arguments.token, "plain": arguments.plain_token})
    for path in arguments.scenarios:
        recorded = record(server, json.loads(path.read_text()), count=arguments.runs)
        (arguments.out / path.name).write_text(json.dumps(recorded, ensure_ascii=False, separators=(",", ":")) + "\n")
        loose = sum(bool(step.get("loose")) for step in recorded["steps"])
        sys.stdout.write(f"{path.stem}: {len(recorded['steps'])} steps, {loose} loose\n")


if __name__ == "__main__":
    main()
