"""The garbage collector during the decoding of a list."""

from __future__ import annotations

import gc

import pytest

from pyctrl.api import Key
from pyctrl.errors import DecodeError
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cache._kit import CONFIGMAP, lab


@pytest.mark.parametrize("is_on", [True, False])
async def test_after_a_list_the_collector_is_as_it_was(is_on: bool) -> None:
    """After a list, the garbage collector is enabled or disabled as before, even if decoding fails."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        (gc.enable if is_on else gc.disable)()
        try:
            assert len(await it.cache.list(ConfigMap)) == 2
            assert gc.isenabled() is is_on
            record = it.cache.informer(CONFIGMAP).find(Key("default", "a"))
            assert record is not None
            record.kept = b'{"data": '
            with pytest.raises(DecodeError):
                await it.cache.list(ConfigMap)
            assert gc.isenabled() is is_on
        finally:
            gc.enable()
