"""Checks of a request before its handler: the timeout, and the namespace of custom resources."""

from __future__ import annotations

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, Asker


@pytest.mark.parametrize(
    ("timeout", "code"), [("1s", 200), ("0", 200), ("1h5m", 200), ("soon", 400), ("10", 400), ("1y", 400)]
)
def test_a_timeout_is_a_duration(timeout: str, code: int) -> None:
    """A timeout that is no duration of Go is refused with Go's error; other requests are answered."""
    answered, status = Asker()("GET", CONFIGMAPS, timeout=timeout)
    assert answered == code
    if code == 400:
        assert status["message"].startswith("invalid timeout specified in the request URL - time: ")
