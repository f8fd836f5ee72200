"""Log context: fields on every log line of a block."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from pyctrl._log.context import LazyFields, LogContextFilter, current_log_context, log_context, log_fields
from tests.unit.log._lines import make_record


def test_blocks_add_fields_and_take_them_away() -> None:
    """An inner block adds and replaces fields; they are removed at its end, also after an error."""
    with log_context(controller="podset", name="a"):
        with log_context(name="b"):
            assert current_log_context() == {"controller": "podset", "name": "b"}
        assert current_log_context() == {"controller": "podset", "name": "a"}
    with pytest.raises(ValueError, match="no"), log_context(name="c"):
        raise ValueError("no")
    assert current_log_context() == {}


async def test_each_task_has_its_own_context() -> None:
    """Concurrent reconciles have separate fields."""

    async def named(name: str) -> Mapping[str, object]:
        with log_context(name=name):
            await asyncio.sleep(1)
            return current_log_context()

    assert list(await asyncio.gather(named("a"), named("b"))) == [{"name": "a"}, {"name": "b"}]


def test_the_filter_keeps_the_context_apart_from_the_record() -> None:
    """A record's `name` is its logger, and the context's `name` is the object's."""
    with log_context(name="web"):
        record = make_record("hello")
    assert LogContextFilter().filter(record)
    assert (record.name, vars(record)["context"]) == ("podset", {})
    with log_context(name="web"):
        LogContextFilter().filter(record)
    assert vars(record)["context"] == {"name": "web"}


def test_lazy_fields_are_computed_once_and_only_for_a_line() -> None:
    """Lazy fields are computed once, and only if a line is logged."""
    computed: list[str] = []

    class Fields(LazyFields):
        __slots__ = ()

        def _make(self) -> Mapping[str, object]:
            computed.append("now")
            return {"name": "web"}

    fields = Fields()
    fields._made = None
    token = log_fields.set(fields)
    try:
        assert computed == []
        assert dict(current_log_context()) == {"name": "web"}
        assert (len(fields), list(fields), computed) == (1, ["name"], ["now"])
    finally:
        log_fields.reset(token)
