"""Helpers for tests of probes."""

from __future__ import annotations

from pyctrl.manager import Manager


async def text(manager: Manager, path: str, *query: tuple[str, str]) -> str:
    answer = await manager.health.answer(path, query)
    return f"{answer.status} {answer.text}".strip()
