"""Frames of SPDY/3, with recorded bytes of client-go."""

from __future__ import annotations

import pytest

from pyctrl._spdy.frames import (
    Data,
    Frame,
    FrameReader,
    FrameWriter,
    GoAway,
    Ping,
    RstStream,
    SPDYProtocolError,
    SynReply,
    SynStream,
)
from tests.unit.spdy._recorded import EXEC, PORT_FORWARD, TERMINAL


def test_the_streams_of_an_exec_of_client_go_are_read() -> None:
    """client-go opens the streams error, stdin, stdout and stderr, then sends the input and its end."""
    assert FrameReader().feed(EXEC) == [
        SynStream(1, {"streamtype": "error"}),
        SynStream(3, {"streamtype": "stdin"}),
        SynStream(5, {"streamtype": "stdout"}),
        SynStream(7, {"streamtype": "stderr"}),
        Data(3, b"hi\n"),
        Data(3, is_final=True),
    ]


def test_frames_are_read_in_pieces() -> None:
    """Bytes that arrive one by one are the same frames."""
    reader = FrameReader()
    frames = [frame for at in range(len(TERMINAL)) for frame in reader.feed(TERMINAL[at : at + 1])]
    assert frames == FrameReader().feed(TERMINAL)
    assert frames[-2:] == [RstStream(1), GoAway()]


def test_the_streams_of_a_forwarded_port_of_client_go_are_read() -> None:
    """Both streams have the port and the number of the connection; the client sends nothing in the error stream."""
    error, closed, data, *_ = FrameReader().feed(PORT_FORWARD)
    headers = {"port": "8080", "requestid": "0"}
    assert error == SynStream(1, {"streamtype": "error", **headers})
    assert (closed, data) == (Data(1, is_final=True), SynStream(3, {"streamtype": "data", **headers}))


@pytest.mark.parametrize(
    "frame",
    [
        SynStream(3, {"streamtype": "data", "port": "1"}, is_final=True),
        SynReply(3),
        RstStream(5, 3),
        Ping(7),
        GoAway(9),
        Data(11, b"x" * 70_000),
        Data(13, b"", is_final=True),
    ],
)
def test_each_frame_is_read_again(frame: Frame) -> None:
    """The other side reads what was written."""
    assert FrameReader().feed(FrameWriter().encode(frame)) == [frame]


def test_frames_that_kubernetes_does_not_use_are_skipped() -> None:
    """SETTINGS and WINDOW_UPDATE are no error."""
    settings, window = (
        b"\x80\x03\x00\x04\x00\x00\x00\x04\x00\x00\x00\x00",
        b"\x80\x03\x00\x09\x00\x00\x00\x08" + bytes(8),
    )
    assert FrameReader().feed(settings + window + FrameWriter().encode(Ping(1))) == [Ping(1)]


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02\x00\x01\x00\x00\x00\x00",
        b"\x80\x03\x00\x63\x00\x00\x00\x04\x00\x00\x00\x00",
        b"\x80\x03\x00\x01\x00\x00\x00\x00",
        b"\x80\x03\x00\x02\x00\x00\x00\x08\x00\x00\x00\x01junk",
    ],
)
def test_bytes_that_are_no_frame_are_refused(data: bytes) -> None:
    """Another version, an unknown type, a frame without its fields and damaged headers are errors."""
    with pytest.raises(SPDYProtocolError):
        FrameReader().feed(data)
