"""Runner of `pyctrl shards`: reads the Leases of rings, and follows them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass

from pyctrl import _clock
from pyctrl._tasks import unwrapped
from pyctrl.cli._client_flags import ClientFlags
from pyctrl.cli._output import is_terminal, print_json
from pyctrl.cli._shards.table import lines_of, to_wire
from pyctrl.cli._signals import run_until_signal
from pyctrl.client import Client, Config
from pyctrl.errors import CommandFailed, Gone
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager import RING_LABEL, Ring

__all__ = ["RingView", "ShardsRunner"]

REDRAW_SECONDS = 1.0  # ages grow, and Leases expire, without a change
CLEAR = "\x1b[H\x1b[2J"


@dataclass(frozen=True, kw_only=True)
class ShardsRunner:
    """Prints rings according to the flags of the command."""

    ring: str | None
    watch: bool
    output: str
    all_namespaces: bool = False

    def run(self, login: ClientFlags) -> int:
        """Print the rings, and with ``--watch`` each change of them until a signal; return the exit code.

        Raises:
            CommandFailed: there is no such ring, or the cluster cannot be reached.
        """
        if self.watch:
            return login.run(self._follow_until_signal, quiet=True)
        rings = login.run(self.read, quiet=self.output == "json")
        if self.output == "json":
            print_json(to_wire(rings))
        else:
            print("\n".join(lines_of(rings, _clock.now(), is_wide=self.output == "wide")))
        return 0

    async def read(self, client: Client, config: Config) -> list[Ring]:
        """Return the ring, or all rings of the namespace or of all namespaces.

        Raises:
            CommandFailed: there is none.
        """
        namespace = self._namespace(config)
        leases = await client.list(Lease, namespace=namespace, labels=self._labels)
        if rings := Ring.read(leases, _clock.now()):
            return rings
        others = await client.list(Lease, namespace=namespace, labels=RING_LABEL) if self.ring else ()
        raise _no_ring(self.ring, namespace, Ring.read(others, _clock.now()))

    def _namespace(self, config: Config) -> str | None:
        return None if self.all_namespaces else config.namespace

    @property
    def _labels(self) -> str:
        return f"{RING_LABEL}={self.ring}" if self.ring else RING_LABEL

    # --- --watch ---

    async def _follow_until_signal(self, client: Client, config: Config) -> int:
        view = RingView(is_wide=self.output == "wide")
        return await run_until_signal(self.follow(client, config, view), is_ready=lambda: view.has_drawn)

    async def follow(self, client: Client, config: Config, view: RingView) -> None:
        """Show the rings in a view whenever they have changed; it does not end."""
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                group.create_task(self._watch(client, config, view.show), name="shards/watch")
                group.create_task(view.draw_always(), name="shards/draw")

    async def _watch(self, client: Client, config: Config, show: Callable[[Iterable[Lease]], None]) -> None:
        """Show the Leases whenever they have changed."""
        namespace = self._namespace(config)
        while True:
            listed = await client.list(Lease, namespace=namespace, labels=self._labels)
            leases = {each.key: each for each in listed}
            show(leases.values())
            watch = client.watch(
                Lease, namespace=namespace, labels=self._labels, resource_version=listed.resource_version
            )
            with suppress(Gone):  # listed again
                async with aclosing(watch) as events:
                    async for event in events:
                        if event.type == "BOOKMARK":
                            continue
                        leases.pop(event.object.key, None)
                        if event.type != "DELETED":
                            leases[event.object.key] = event.object
                        show(leases.values())


class RingView:
    """The rings on the terminal, drawn again; elsewhere printed again when more than an age has changed."""

    def __init__(self, *, is_wide: bool) -> None:
        self.has_drawn = False
        self._is_wide, self._is_terminal = is_wide, is_terminal(sys.stdout)
        self._leases: tuple[Lease, ...] = ()
        self._printed: tuple[str, ...] = ()
        self._has_changed = asyncio.Event()

    def show(self, leases: Iterable[Lease]) -> None:
        """Note the Leases as they are now."""
        self._leases = tuple(leases)
        self._has_changed.set()

    async def draw_always(self) -> None:
        """Draw the rings when they have changed, and each second, in which ages grow; it does not end."""
        await self._has_changed.wait()
        while True:
            self._has_changed.clear()
            self._draw()
            with suppress(TimeoutError):
                async with asyncio.timeout(REDRAW_SECONDS):
                    await self._has_changed.wait()

    def _draw(self) -> None:
        now = _clock.now()
        rings = Ring.read(self._leases, now)
        shown = tuple(lines_of(rings, now if self._is_terminal else None, is_wide=self._is_wide))
        shown = shown or ("no replicas",)
        self.has_drawn = True
        if shown == self._printed and not self._is_terminal:
            return
        start = CLEAR if self._is_terminal else "\n" if self._printed else ""
        self._printed = shown
        sys.stdout.write(start + "\n".join(shown) + "\n")
        sys.stdout.flush()


def _no_ring(name: str | None, namespace: str | None, others: Iterable[Ring]) -> CommandFailed:
    names = ", ".join(ring.name for ring in others)
    where = "any namespace" if namespace is None else f"namespace {namespace}"
    if name is not None and names:
        return CommandFailed(f"no ring {name!r} in {where}; there are {names}")
    what = f"no ring {name!r}" if name is not None else "no ring"
    elsewhere = "" if namespace is None else "; name another namespace with -n, or all with -A"
    return CommandFailed(f"{what} in {where}: no replica of pyctrl run --shards=auto has a Lease there{elsewhere}")
