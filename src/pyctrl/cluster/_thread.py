"""A cluster for programs that have no event loop: notebooks, scripts and tests of clients that block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from pyctrl.client import Config
from pyctrl.cluster._cluster import Cluster

__all__ = ["serving_cluster"]


@contextmanager
def serving_cluster(make: Callable[[], Cluster] = Cluster, *, tls: bool = False) -> Iterator[Config]:
    """Serve a cluster from a thread of its own until the block ends; gives how to reach it.

        with serving_cluster() as config:
            Path("kubeconfig").write_text(config.to_kubeconfig())

    Args:
        make: makes the cluster, in that thread: ``lambda: Cluster(kubelet=False)``.
        tls: speak HTTPS, as in `Cluster.serve`.

    Raises:
        Exception: whatever kept the cluster from starting.
    """
    served: Future[tuple[Config, Callable[[], object]]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(make, tls, served)), name="pyctrl-cluster", daemon=True)
    thread.start()
    config, stop = served.result()
    try:
        yield config
    finally:
        stop()
        thread.join()


async def _serve(make: Callable[[], Cluster], tls: bool, served: Future[tuple[Config, Callable[[], object]]]) -> None:
    """Serve until told to stop; what fails before that is for the other thread to raise."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    try:
        async with make() as cluster, cluster.serve(tls=tls) as config:
            served.set_result((config, lambda: loop.call_soon_threadsafe(stopped.set)))
            await stopped.wait()
    except Exception as error:
        if served.done():
            raise
        served.set_exception(error)
