"""Kill, freeze and restart replicas that divide their work, on a real kube-apiserver, with its audit log as a witness.

    python tools/kill_replicas.py --assets DIRECTORY --minutes 20

Each replica is a process that copies `data.wanted` of ConfigMaps to `data.done`, while a writer changes `wanted`.
Replicas get SIGKILL, SIGSTOP and SIGCONT, and SIGTERM at random, and start again. In the end each object must be done,
and each write in the audit log must be that of the replica which had the object at that time (`_ring_audit.py`). Exit
status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Literal, TypeAlias, get_args

sys.path.insert(0, str(Path(__file__).parents[1]))

from pyctrl.api import Key, ObjectMeta, set_controller_reference
from pyctrl.client import Client, Config, MergePatch
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.errors import PyctrlError
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Manager, Preflight, Sharding
from pyctrl.testing._cluster.control_plane import control_plane
from tools._ring_audit import POLICY, judge

Memory: TypeAlias = Literal["off", "hash", "filter", "label"]

NAMESPACE = "default"
LABEL = "kill-replicas"
PATIENCE = 90  # seconds until everything is done after the last fault


class Copier(Reconciler[ConfigMap]):
    """Copies `wanted` to `done`, without a resource version: only sharding keeps others from writing it.

    With owned objects it also creates a Secret for each ConfigMap that has none in its cache. One that the cache lacks
    would be created twice.
    """

    def __init__(self, name: str, random: Random, *, has_owned: bool) -> None:
        self.name, self._random = name, random
        self.owns = (Secret,) if has_owned else ()

    async def reconcile(self, request: Request) -> None:
        """Copy, after a while."""
        found = await self.client.find(ConfigMap, request.key)
        if found is None or LABEL not in found.metadata.labels:
            return
        if self.owns and not await self.client.list(Secret, namespace=NAMESPACE, index=("owner", found.metadata.uid)):
            child = Secret(metadata=ObjectMeta(generate_name="child-", namespace=NAMESPACE, labels={LABEL: ""}))
            set_controller_reference(found, child)
            await self.client.create(child)
        if found.data.get("done") == found.data.get("wanted"):
            return
        await asyncio.sleep(self._random.choice((0, 0, 0.05, 0.3, 3.0)) * self._random.random())
        done = {"done": found.data.get("wanted", ""), "by": self.name}
        await self.client.patch(found, MergePatch({"data": done}))


async def replica(kubeconfig: Path, name: str, memory: Memory) -> None:
    """Run one replica until it is asked to stop."""
    config, random = replace(Config.load(kubeconfig=kubeconfig), user_agent=name), Random(name)
    sharding = Sharding(
        name="ring",
        namespace=NAMESPACE,
        identity=name,
        handover_timeout=timedelta(seconds=5),
        memory="label" if memory == "label" else memory != "off",
    )
    async with Manager(config, sharding=sharding, namespaces=[NAMESPACE], preflight=Preflight.OFF) as manager:
        copier = Copier(name, random, has_owned=memory != "off")
        Builder(manager).reconciles(ConfigMap).options(workers=8).build(copier)
        await manager.run()


@dataclass
class Process:
    """A replica's process; a new name for each, so that the log tells them apart."""

    name: str
    running: subprocess.Popen[bytes]
    is_frozen: bool = False


class Ring:
    """The processes, and what happens to them."""

    def __init__(self, kubeconfig: Path, count: int, random: Random, home: Path, memory: Memory) -> None:
        self._memory = memory
        self._kubeconfig, self._random, self._home = kubeconfig, random, home
        self.names: list[str] = []
        self.events: dict[str, int] = {}
        self.processes = [self._start() for _ in range(count)]

    def _start(self) -> Process:
        name = f"replica-{len(self.names)}"
        self.names.append(name)
        command = [sys.executable, __file__, "--replica", name, "--kubeconfig", str(self._kubeconfig)]
        command += ["--memory", self._memory]
        with (self._home / f"{name}.log").open("wb") as log:
            return Process(name, subprocess.Popen(command, stdout=log, stderr=log))

    def step(self) -> None:
        """Do something to one of them."""
        process = self._random.choice(self.processes)
        what = self._random.choice(("kill", "stop", "freeze", "freeze", "thaw"))
        if what == "freeze" and not process.is_frozen:
            process.running.send_signal(signal.SIGSTOP)
            process.is_frozen = True
        elif what == "thaw" or process.is_frozen:
            what = "thaw"
            self._thaw(process)
        else:
            process.running.send_signal(signal.SIGKILL if what == "kill" else signal.SIGTERM)
            self.processes.remove(process)
            self.processes.append(self._start())
        self.events[what] = self.events.get(what, 0) + 1

    def _thaw(self, process: Process) -> None:
        process.running.send_signal(signal.SIGCONT)
        process.is_frozen = False

    def calm(self) -> None:
        """End all faults, and start again what has ended by itself."""
        for process in self.processes:
            self._thaw(process)
        self.processes = [each if each.running.poll() is None else self._start() for each in self.processes]

    def stop(self) -> None:
        """End all processes."""
        for process in self.processes:
            self._thaw(process)
            process.running.terminate()
        for process in self.processes:
            process.running.wait(timeout=60)


async def load(client: Client, objects: int, random: Random, stopping: asyncio.Event) -> int:
    """Change what is wanted until told to stop, and return the number of changes."""
    changes = 0
    while not stopping.is_set():
        key = Key(NAMESPACE, f"object-{random.randrange(objects)}")
        await client.patch(ConfigMap, key, MergePatch({"data": {"wanted": str(changes)}}))
        changes += 1
        await asyncio.sleep(0.02)
    return changes


async def undone(client: Client) -> list[str]:
    """Return the objects that are not done."""
    found = await client.list(ConfigMap, namespace=NAMESPACE, labels=LABEL)
    return [each.metadata.name for each in found if each.data.get("done") != each.data.get("wanted")]


async def without_one_child(client: Client) -> list[str]:
    """Return the objects that do not have exactly one Secret, with the number."""
    children = await client.list(Secret, namespace=NAMESPACE, labels=LABEL)
    count = Counter(owner.name for child in children for owner in child.metadata.owner_references)
    names = [each.metadata.name for each in await client.list(ConfigMap, namespace=NAMESPACE, labels=LABEL)]
    return [f"{name} with {count[name]} children" for name in names if count[name] != 1]


async def torment(kubeconfig: Path, home: Path, args: argparse.Namespace) -> tuple[Ring, int, list[str]]:
    """Run the replicas under load and faults; return them, the number of changes, and what is not done in the end."""
    random, loop = Random(args.seed), asyncio.get_running_loop()
    async with Client.connect(Config.load(kubeconfig=kubeconfig)) as client:
        for number in range(args.objects):
            meta = ObjectMeta(name=f"object-{number}", namespace=NAMESPACE, labels={LABEL: ""})
            await client.create(ConfigMap(metadata=meta, data={"wanted": "0"}))
        ring, stopping = Ring(kubeconfig, args.replicas, random, home, args.memory), asyncio.Event()
        try:
            loading = asyncio.create_task(load(client, args.objects, random, stopping))
            ends = loop.time() + args.minutes * 60
            while loop.time() < ends and not loading.done():
                await asyncio.sleep(random.uniform(0.5, 12))
                ring.step()
            ring.calm()
            stopping.set()
            changes, left = await loading, ["?"]
            for _ in range(PATIENCE):
                if not (left := await undone(client)):
                    break
                await asyncio.sleep(1)
            return ring, changes, [*left, *(await without_one_child(client) if args.memory != "off" else ())]
        finally:
            await asyncio.to_thread(ring.stop)


def main() -> int:
    """Run, judge, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--assets", type=Path, help="the directory of etcd and kube-apiserver")
    parser.add_argument("--minutes", type=float, default=20.0, help="default: %(default)s")
    parser.add_argument("--replicas", type=int, default=4, help="default: %(default)s")
    parser.add_argument("--objects", type=int, default=300, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    text = "replicas cache only their own objects: selected by the server by hash (ShardedListAndWatch), filtered, or "
    text += "selected by label; they create Secrets, which they own"
    parser.add_argument("--memory", nargs="?", const="hash", default="off", choices=get_args(Memory), help=text)
    parser.add_argument("--replica", help=argparse.SUPPRESS)
    parser.add_argument("--kubeconfig", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.replica:
        asyncio.run(replica(args.kubeconfig, args.replica, args.memory))
        return 0
    if args.assets is None:
        parser.error("--assets is required: the directory of etcd and kube-apiserver, such as that of setup-envtest")
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        policy, log = home / "policy.json", home / "audit.log"
        policy.write_text(json.dumps(POLICY))
        flags = [f"--audit-policy-file={policy}", f"--audit-log-path={log}", "--audit-log-maxsize=10000"]
        flags += ["--feature-gates=ShardedListAndWatch=true"] * (args.memory == "hash")
        with control_plane(args.assets, apiserver_flags=flags) as plane:
            try:
                ring, changes, left = asyncio.run(torment(plane.kubeconfig, home, args))
            except PyctrlError as error:
                print(f"failed: {error}", file=sys.stderr)
                return 1
        verdicts = judge(log, ring.names)
        if verdicts.wrong:
            kept = tempfile.mkdtemp(prefix="pyctrl-kill-replicas-")
            shutil.copytree(home, kept, dirs_exist_ok=True)
            print(f"the audit log and those of the replicas are kept in {kept}")
    print(f"{args.minutes:g} minutes, {args.replicas} replicas, {len(ring.names)} processes, faults: {ring.events}")
    print(f"{changes} changes of {args.objects} objects; {verdicts.writes} writes by replicas, {verdicts.moves} after")
    print(f"another replica's, {verdicts.leases} writes of Leases; not done in the end: {len(left)} {left[:5] or ''}")
    print(f"writes by a replica that did not have the object: {len(verdicts.wrong)}")
    for line in verdicts.wrong[:20]:
        print(f"  {line}")
    return 1 if left or verdicts.wrong or not verdicts.writes else 0


if __name__ == "__main__":
    raise SystemExit(main())
