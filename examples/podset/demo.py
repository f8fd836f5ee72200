"""Demo of the PodSet operator on pyctrl's embedded API server: ``python -m examples.podset.demo [--keep]``.

It starts a cluster in this process, installs the definition, runs the operator over HTTP, and creates, scales and
deletes a PodSet. Every step waits for its result and prints the time it took. If a result is missing, the demo exits
with code 1. It writes only a kubeconfig file, for kubectl, and removes it at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import yaml

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, Config, MergePatch, wait_for, wait_for_list
from pyctrl.cluster import Cluster
from pyctrl.errors import PyctrlError
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.apps.v1 import Deployment, ReplicaSet
from pyctrl.kinds.core.v1 import Pod
from pyctrl.manager import Manager

from .podset import PodSet, PodSetSpec, add_podset, labels_for

T = TypeVar("T")

KEY = Key("default", "demo")
CONFIG = Path(__file__).with_name("config")
DEFINITION = CONFIG / "crd" / "bases" / "apps.jicki.cn_podsets.yaml"
SAMPLE = CONFIG / "samples" / "apps.jicki.cn_v1alpha1_podset.yaml"
PATIENCE = 30.0  # seconds after which a step that has not happened has failed; each takes some hundredths


class Stage:
    """Output of the demo: the steps and their durations."""

    def __init__(self) -> None:
        self._is_colourful = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def say(self, text: str) -> None:
        """Print a heading."""
        print(f"\n{self._paint('1', text)}", flush=True)

    async def step(self, promise: str, happens: Awaitable[T], show: Callable[[T], str] = str) -> T:
        """Wait for a result, then print it with its duration."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        try:
            outcome = await happens
        except TimeoutError as error:
            raise PyctrlError(f"{promise}: {error}") from error
        mark, note = self._paint("32", "ok"), self._paint("2", show(outcome))
        print(f"  {mark} {clock() - begun:6.3f} s  {promise:<30} {note}".rstrip(), flush=True)
        return outcome

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._is_colourful and text else text


class Play:
    """The steps of the demo, for any cluster that runs pods."""

    def __init__(self, client: Client, stage: Stage) -> None:
        self._client, self._stage = client, stage

    async def run(self) -> None:
        """Create a PodSet, scale it, delete one of its pods, delete it."""
        await self._create(3)
        for size in (5, 0, 2):
            await self._scale(size)
        await self._lose_a_pod()
        await self._delete()

    async def _create(self, size: int) -> None:
        self._stage.say(f"create PodSet {KEY} of size {size}")
        meta = ObjectMeta(name=KEY.name, namespace=KEY.namespace)
        await self._client.create(PodSet(metadata=meta, spec=PodSetSpec(size=size)))
        await self._stage.step("a Deployment of the same name", self._deployment())
        await self._stage.step(f"{size} pods run", self._pods(size))
        await self._stage.step("the status has their names", self._nodes(size))

    async def _scale(self, size: int) -> None:
        self._stage.say(f"scale it to {size}")
        await self._client.patch(PodSet, KEY, MergePatch({"spec": {"size": size}}))
        await self._stage.step(f"{size} pods run", self._pods(size))
        await self._stage.step("the status has their names" if size else "the status is empty", self._nodes(size))

    async def _lose_a_pod(self) -> None:
        lost = (await self._client.get(PodSet, KEY)).status.nodes[0]
        self._stage.say(f"delete pod {lost}")
        await self._client.delete(Pod, Key(KEY.namespace, lost))
        await self._stage.step("another has taken its place", self._pods(2, without=lost))
        await self._stage.step("the status has its name", self._nodes(2, without=lost))

    async def _delete(self) -> None:
        self._stage.say("delete the PodSet")
        await self._client.delete(PodSet, KEY)
        await self._stage.step("all that it owned is gone", self._nothing())

    async def _deployment(self) -> str:
        found = await wait_for(self._client, Deployment, KEY)
        owners = [f"{ref.kind} {ref.name}" for ref in found.metadata.owner_references]
        return f"owned by {', '.join(owners)}"

    async def _pods(self, size: int, *, without: str = "") -> str:
        def all_run(pods: object) -> bool:
            assert isinstance(pods, list)
            names = [pod.metadata.name for pod in pods]
            return len(pods) == size and without not in names and all(p.status.phase == "Running" for p in pods)

        pods = await wait_for_list(
            self._client, Pod, all_run, namespace=KEY.namespace, labels=labels_for(KEY.name), timeout=PATIENCE
        )
        return listed(pod.metadata.name for pod in pods)

    async def _nodes(self, size: int, *, without: str = "") -> str:
        def fits(podset: PodSet) -> bool:
            return len(podset.status.nodes) == size and without not in podset.status.nodes

        podset = await wait_for(self._client, PodSet, KEY, fits, timeout=PATIENCE)
        return listed(podset.status.nodes)

    async def _nothing(self) -> str:
        for kind in (Deployment, ReplicaSet, Pod):
            await wait_for_list(self._client, kind, lambda left: not left, namespace=KEY.namespace, timeout=PATIENCE)
        return "Deployment, ReplicaSet, pods"


def listed(names: Iterable[str]) -> str:
    """Return the first name and the number of others, which fits into 80 columns."""
    every = list(names)
    more = f" and {len(every) - 1} more" if len(every) > 1 else ""
    return "".join(every[:1]) + more


async def install(client: Client) -> str:
    """Install the definition and wait until it is served."""
    await client.create(CustomResourceDefinition.from_wire(yaml.safe_load(DEFINITION.read_text())))

    def is_established(found: CustomResourceDefinition | None) -> bool:
        conditions = found.status.conditions if found else []
        return any(c.type == "Established" and c.status == "True" for c in conditions)

    name = "podsets.apps.jicki.cn"
    await wait_for(client, CustomResourceDefinition, Key("", name), is_established, timeout=PATIENCE)
    return name


async def demo(*, keep: bool, kubeconfig: Path | None) -> None:
    """Start the cluster and the operator, run the steps, and wait for Ctrl-C if ``keep`` is set."""
    stage = Stage()
    stage.say("PodSet on the API server inside pyctrl")
    async with AsyncExitStack() as stack:
        config = await stage.step("a cluster is ready", start(stack), lambda served: served.server)
        if kubeconfig is None:
            kubeconfig = Path(stack.enter_context(TemporaryDirectory(prefix="pyctrl-demo-"))) / "kubeconfig"
        kubeconfig.write_text(config.to_kubeconfig(context_name="pyctrl-demo"))
        client = await stack.enter_async_context(Client.connect(config))
        await stage.step("the definition is served", install(client))
        manager = await stack.enter_async_context(Manager(config))
        add_podset(manager)
        await stage.step("the operator runs", operate(stack, manager))
        print(f"\n  export KUBECONFIG={kubeconfig}  # for kubectl", flush=True)
        await Play(client, stage).run()
        if keep:
            await stay(stage, kubeconfig)
        else:
            print("\n  KEEP=1 (without make: --keep) stays up afterwards, for kubectl", flush=True)


async def start(stack: AsyncExitStack) -> Config:
    """Start the cluster and serve it on a free local port."""
    cluster = await stack.enter_async_context(Cluster())
    return await stack.enter_async_context(cluster.serve())


async def operate(stack: AsyncExitStack, manager: Manager) -> str:
    """Run the operator until the stack ends."""
    async with asyncio.timeout(PATIENCE):
        await stack.enter_async_context(manager.running())
    return "2 workers, caches in sync"


async def stay(stage: Stage, kubeconfig: Path) -> None:
    """Wait for Ctrl-C, which now ends the demo with exit code 0."""
    interrupted = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, interrupted.set)
    stage.say("staying up until Ctrl-C; from another terminal, try")
    print(f"  export KUBECONFIG={kubeconfig}")
    print(f"  kubectl apply -f {SAMPLE}")
    print("  kubectl get podsets,pods --watch", flush=True)
    await interrupted.wait()


def main() -> int:
    """Run the demo with the flags of the command line. An error is printed, with exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m examples.podset.demo", description="Watch PodSet at work.")
    parser.add_argument("--keep", action="store_true", help="stay up afterwards, for kubectl, until Ctrl-C")
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        type=Path,
        help="where to write the kubeconfig; default: a new file, removed at the end",
    )
    args = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    try:
        asyncio.run(demo(keep=args.keep, kubeconfig=args.kubeconfig))
    except KeyboardInterrupt:
        return 130  # as shells do
    except BrokenPipeError:
        return 1  # the reader of stdout, such as head or less, has exited
    except (PyctrlError, OSError) as error:
        print(f"\ndemo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
