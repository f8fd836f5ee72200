"""What the API server and kubelets exchange."""

from __future__ import annotations

import asyncio

from pyctrl.apiserver import TerminalSize, TerminalSizeQueue
from pyctrl.testing import run_virtual


def test_a_reader_of_sizes_sees_the_latest() -> None:
    """A size that was not read is replaced by the next one, as a terminal's signal does not count."""

    async def main() -> None:
        sizes = TerminalSizeQueue()
        assert sizes.current is None
        sizes.put(TerminalSize(80, 24))
        sizes.put(TerminalSize(100, 30))
        assert await sizes.next() == TerminalSize(100, 30) == sizes.current

    run_virtual(main())


def test_sizes_end_when_the_client_sends_no_more() -> None:
    """A loop over the sizes waits for each, and ends with the client; the last size is kept."""

    async def main() -> None:
        sizes, seen = TerminalSizeQueue(), []

        async def read() -> None:
            async for size in sizes:
                seen.append(size.width)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(read())
            for width in (1, 2):
                await asyncio.sleep(1)
                sizes.put(TerminalSize(width, 1))
            await asyncio.sleep(1)
            sizes.close()
        assert seen == [1, 2]
        assert sizes.current == TerminalSize(2, 1)

    run_virtual(main())
