"""Run the commands of docs/tutorial.md and record their output in the page.

    python tools/record_tutorial.py

An output that differs only in times and counts is kept. Needs kubectl.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.integration._walk import Walk, comparable, steps_of  # found only with the path above
from tests.integration.test_tutorial import PAGE, newcomer


async def record() -> str:
    """Return the page with current outputs."""
    page, recorded, end = PAGE.read_text(), "", 0
    with TemporaryDirectory() as home:
        async with newcomer(Path(home), has_kubectl=True) as opened:
            async for step, told in Walk(opened, is_recording=True).outcomes(steps_of(page)):
                start, stop = step.span
                is_same = comparable(told) == comparable(step.text)
                recorded += page[end:start] + (step.text if is_same else told)
                end = stop
                print(f"{'unchanged' if is_same else 'RECORDED '}  {step.what or 'the terminal'}")
    return recorded + page[end:]


if __name__ == "__main__":
    PAGE.write_text(asyncio.run(record()))
