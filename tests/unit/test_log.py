"""Log lines for people: fields of the work at hand, and a console that shows them."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator

import pytest

from pyctrl._log import ConsoleFormatter, LogContextFilter, configure_logging, current_log_context, log_context


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, as it was afterwards."""
    logger = logging.getLogger()
    level, handlers = logger.level, logger.handlers[:]
    yield logger
    logger.setLevel(level)
    logger.handlers[:] = handlers


def format_line(message: str, *, is_coloured: bool = False, **extra: object) -> str:
    """Return a line without its time."""
    record = logging.getLogger("podset").makeRecord("podset", logging.INFO, "", 0, message, (), None, extra=extra)
    LogContextFilter().filter(record)
    line = ConsoleFormatter(is_coloured=is_coloured).format(record)
    return line if is_coloured else line.split(" ", 1)[1]


def test_a_line_shows_message_and_fields() -> None:
    """Extras are key=value; values that are not one word are quoted; empty ones are left out."""
    line = format_line("scaled", replicas=3, reason="asked to", empty="", none=None, some=["a", "b"])
    assert line == 'INFO    podset: scaled  replicas=3 reason="asked to" some=[a, b]'


def test_fields_of_the_context_are_on_every_line_of_the_block() -> None:
    """An object's ``name`` is shown although a log record has a ``name`` of its own; blocks nest."""
    with log_context(controller="podset", name="web"):
        with log_context(reconcileID="1"):
            assert format_line("inside", x=1) == "INFO    podset: inside  controller=podset name=web reconcileID=1 x=1"
        assert current_log_context() == {"controller": "podset", "name": "web"}
    assert format_line("outside") == "INFO    podset: outside"


def test_a_traceback_follows_its_line() -> None:
    """Errors show where they come from."""
    try:
        raise ValueError("no")
    except ValueError:
        record = logging.getLogger("x").makeRecord("x", logging.ERROR, "", 0, "failed", (), sys.exc_info())
    text = ConsoleFormatter().format(record)
    assert "ERROR   x: failed\nTraceback" in text
    assert text.endswith("ValueError: no")


def test_colour_only_on_a_terminal(root: logging.Logger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file gets plain text, and so does a terminal whose user set NO_COLOR."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    outputs = []
    for stream, no_color in ((Terminal(), ""), (io.StringIO(), ""), (Terminal(), "1")):
        root.handlers[:] = []
        monkeypatch.setenv("NO_COLOR", no_color)
        configure_logging(logging.INFO, stream=stream)
        logging.getLogger("podset").info("hello")
        outputs.append("\033[" in stream.getvalue())
    assert outputs == [True, False, False]


def test_configuring_twice_changes_the_level_only(root: logging.Logger) -> None:
    """Each line is shown once."""
    root.handlers[:] = []
    stream = io.StringIO()
    configure_logging("INFO", stream=stream)
    configure_logging("DEBUG", stream=stream)
    logging.getLogger("podset").debug("hello")
    assert stream.getvalue().count("hello") == 1
