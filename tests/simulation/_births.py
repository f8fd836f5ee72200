"""Creates that the operator knows of: only a create whose response was lost may explain a duplicate."""

from __future__ import annotations

import asyncio
import json
from random import Random

from pyctrl.cluster import Cluster
from tests.simulation._flock import WANTED
from tests.simulation._trace import Trace

DIE_YOUNG = 0.1  # the share of birds that are deleted young, often before their creator knows of them
YOUNG = 0.3  # seconds


class Births:
    """Tracks every create when the server executes it and when the operator receives its response."""

    def __init__(self, cluster: Cluster, random: Random, trace: Trace) -> None:
        self._cluster, self._random, self._trace = cluster, random, trace
        #: Uids of what was created without an answer to the process that runs now.
        self._unknown: set[str] = set()
        self._is_over = False

    def begin(self) -> None:
        """Start with the objects that a new process lists."""
        self._unknown.clear()

    def happened(self, body: bytes) -> None:
        """Check a create on the server: a bird is created only if its flock was too small."""
        born = json.loads(body)
        if "uid" not in born["metadata"]:  # an access review, which is not stored
            return
        self._unknown.add(born["metadata"]["uid"])
        wanted = born["metadata"].get("annotations", {}).get(WANTED)
        if wanted is None:
            return
        (owner,) = born["metadata"]["ownerReferences"]
        known = [name for name, uid in self._birds_of(owner["uid"]) if uid not in self._unknown]
        assert len(known) < int(wanted), f"{owner['name']} wants {wanted}, has {known}, and gets one more"
        if self._random.random() < DIE_YOUNG:
            path = f"/api/v1/namespaces/{born['metadata']['namespace']}/configmaps/{born['metadata']['name']}"
            delay = self._random.uniform(0.0, YOUNG)
            asyncio.get_running_loop().call_later(delay, self._die, path)

    def _die(self, path: str) -> None:
        if self._is_over:
            return
        self._trace.say(f"cat DELETE {path}")
        self._cluster.server.handle_nowait("DELETE", path)

    def end(self) -> None:
        """Stop deleting young birds."""
        self._is_over = True

    def answered(self, body: bytes) -> None:
        """Record that the operator has received the response."""
        self._unknown.discard(json.loads(body)["metadata"].get("uid", ""))

    def _birds_of(self, owner: str) -> list[tuple[str, str]]:
        answer = self._cluster.server.handle_nowait("GET", "/api/v1/configmaps").body
        assert isinstance(answer, bytes)
        return [
            (found["metadata"]["name"], found["metadata"]["uid"])
            for found in json.loads(answer)["items"]
            if any(reference["uid"] == owner for reference in found["metadata"].get("ownerReferences", []))
        ]
