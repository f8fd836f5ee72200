"""Flags for logging, which are those of controller-runtime."""

from __future__ import annotations

import pytest

from pyctrl import LogOptions
from pyctrl.cli._log_flags import NO_LOG_FLAGS, LogFlags
from tests.unit.cli.conftest import Run


def test_flags_become_log_options() -> None:
    """`-v` sets the level debug, unless another flag sets a level."""
    assert NO_LOG_FLAGS.options() == LogOptions()
    assert LogFlags(verbose=True).options() == LogOptions(log_level="debug")
    assert LogFlags(verbose=True, log_level="error").options() == LogOptions(log_level="error")
    flags = LogFlags(zap_devel=True, log_format="json", zap_time_encoding="epoch", zap_sampling=False)
    assert flags.options() == LogOptions(devel=True, encoder="json", time_encoding="epoch", sampling=False)


@pytest.mark.parametrize("flag", ["--log-level", "--zap-log-level", "--zap-stacktrace-level", "--zap-encoder"])
def test_an_invalid_value_is_a_usage_error(run: Run, flag: str) -> None:
    """An invalid value is a usage error with flag and value, before the program is loaded."""
    ran = run("run", "missing.py", flag, "loud")
    assert (ran.code, ran.out, f'Invalid value "loud" for {flag}' in ran.err) == (2, "", True)
