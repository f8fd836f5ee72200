"""Sessions with a program, in virtual time and without the controllers of a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pyctrl.dev import DevOptions, DevSession
from pyctrl.program import Target
from tests.unit.dev._programs import PROGRAM, SAMPLE


@asynccontextmanager
async def box_session(directory: Path, text: str = PROGRAM) -> AsyncIterator[DevSession]:
    """Run the program boxes.py in a directory, with its sample."""
    file, sample = directory / "boxes.py", directory / "box.yaml"
    file.write_text(text)
    sample.write_text(SAMPLE)
    options = DevOptions(apply=[sample], controllers=False, kubelet=False)
    async with DevSession(Target.parse(str(file)), options) as session, asyncio.TaskGroup() as group:
        following = group.create_task(session.run())
        yield session
        following.cancel()
