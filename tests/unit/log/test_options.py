"""Log options, their flags, and the logging of a whole program."""

from __future__ import annotations

import argparse
import io
import json
import logging
from collections.abc import Iterator

import pytest

from pyctrl import LogOptions, configure_logging


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def root() -> Iterator[logging.Logger]:
    """The root logger without handlers, restored afterwards."""
    logger = logging.getLogger()
    level, handlers = logger.level, logger.handlers[:]
    logger.handlers[:] = []
    yield logger
    configure_logging()  # restores the levels of single loggers
    logging.getLogger("asyncio").setLevel(logging.NOTSET)
    logger.setLevel(level)
    logger.handlers[:] = handlers


def options_of(*arguments: str) -> LogOptions:
    parser = argparse.ArgumentParser(exit_on_error=False)
    LogOptions.add_flags(parser)
    return LogOptions.from_args(parser.parse_args(arguments))


def shown(options: LogOptions, *, level: int = logging.INFO, terminal: bool = False, trace: bool = False) -> str:
    """Return the output of one line."""
    stream = Terminal() if terminal else io.StringIO()
    configure_logging(options, stream=stream)
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("podset").log(level, "hello", exc_info=trace)
    return stream.getvalue()


def test_colour_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file gets plain text with the date; a terminal with NO_COLOR gets plain text without the date."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\033[" in shown(LogOptions(), terminal=True)
    file = shown(LogOptions())
    assert "\033[" not in file
    assert file[4] == "-"
    monkeypatch.setenv("NO_COLOR", "1")
    plain = shown(LogOptions(), terminal=True)
    assert "\033[" not in plain
    assert plain[2] == ":"


def test_the_last_configuration_counts(root: logging.Logger) -> None:
    """After another configuration each line is shown once, in the same place; other handlers stay."""
    other = logging.StreamHandler(io.StringIO())
    root.addHandler(other)
    stream = io.StringIO()
    configure_logging("INFO", stream=stream)
    configure_logging(LogOptions(encoder="json", log_level="debug"))
    logging.getLogger("podset").debug("hello")
    assert json.loads(stream.getvalue())["msg"] == "hello"
    assert other in root.handlers
    configure_logging(logging.WARNING)
    assert root.level == logging.WARNING


def test_modes_are_controller_runtimes() -> None:
    """Development: console, debug, tracebacks of warnings. Production: JSON, info, tracebacks of errors."""
    assert "Traceback" in shown(LogOptions(devel=True), level=logging.WARNING, trace=True)
    assert "Traceback" not in shown(LogOptions(devel=True), level=logging.DEBUG, trace=True)
    assert "hello" in shown(LogOptions(devel=True), level=logging.DEBUG)
    production = LogOptions(devel=False)
    assert shown(production, level=logging.DEBUG) == ""
    assert set(json.loads(shown(production, level=logging.WARNING, trace=True))) == {
        "level",
        "ts",
        "logger",
        "msg",
        "error",
    }
    assert "stacktrace" in json.loads(shown(production, level=logging.ERROR, trace=True))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], LogOptions()),
        (["--zap-devel"], LogOptions(devel=True)),
        (["--zap-devel=false"], LogOptions(devel=False)),
        (["-v"], LogOptions(log_level="debug")),
        (["--zap-log-level=2", "--zap-encoder=json"], LogOptions(log_level="2", encoder="json")),
        (["--zap-stacktrace-level", "panic"], LogOptions(stacktrace_level="panic")),
        (["--zap-time-encoding", "epoch"], LogOptions(time_encoding="epoch")),
        (["--zap-sampling=false"], LogOptions(sampling=False)),
        (["--zap-sampling"], LogOptions(sampling=True)),
    ],
)
def test_flags_are_controller_runtimes(arguments: list[str], expected: LogOptions) -> None:
    """The flags of a Go operator's manifest work unchanged."""
    assert options_of(*arguments) == expected


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("debug", 10),
        ("INFO", 20),
        ("warn", 30),
        ("error", 40),
        ("panic", 50),
        ("0", 20),
        ("1", 10),
        ("3", 8),
        ("99", 1),
    ],
)
def test_levels_are_zaps(text: str, level: int) -> None:
    """Levels may be names, or numbers, of which a higher one is more verbose."""
    assert LogOptions(log_level=text).level == level


def test_single_loggers_have_levels_of_their_own() -> None:
    """A logger's level applies to its children; a later call restores the levels that it does not name."""
    configure_logging(LogOptions(log_level="warn,pyctrl.cache=debug"), stream=io.StringIO())
    assert logging.getLogger("pyctrl.cache").isEnabledFor(logging.DEBUG)
    assert not logging.getLogger("pyctrl.client").isEnabledFor(logging.INFO)
    configure_logging(LogOptions(devel=True))
    assert logging.getLogger("pyctrl.cache").level == logging.NOTSET
    assert logging.getLogger("asyncio").level == logging.INFO  # its debug lines are not the program's
    assert LogOptions(log_level="asyncio=debug").levels == {"asyncio": logging.DEBUG}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--zap-log-level=loud", "expected a level .*'loud'"),
        ("--zap-log-level=info,debug", "such as info,pyctrl.cache=debug"),
        ("--zap-log-level=pyctrl.cache=x", "expected a level .*'x'"),
        ("--zap-devel=maybe", "expected true or false, got 'maybe'"),
        ("--zap-encoder=xml", "invalid choice: 'xml'"),
    ],
)
def test_a_flag_that_is_wrong_says_what_is_right(arguments: str, said: str) -> None:
    """An invalid flag is an error of one sentence with the valid values."""
    with pytest.raises(argparse.ArgumentError, match=said):
        options_of(arguments)


def test_options_that_are_wrong_say_what_is_right() -> None:
    """An invalid option in Python is an error with the valid values."""
    with pytest.raises(ValueError, match="encoder must be one of console, json, got 'xml'"):
        LogOptions(encoder="xml")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected a level"):
        configure_logging("LOUD")
