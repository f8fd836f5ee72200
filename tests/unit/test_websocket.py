"""WebSocket frames."""

from __future__ import annotations

import pytest

from pyctrl._websocket import MessageReader, Opcode, WebSocketProtocolError, accept_key, encode_frame


def test_the_key_of_the_specification() -> None:
    """The accept key is that of RFC 6455, section 1.3."""
    assert accept_key("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 200_001])
@pytest.mark.parametrize("mask", [b"", b"abcd"])
def test_a_message_of_any_length_is_read_again(size: int, mask: bytes) -> None:
    """Both sides read what the other one has written, also in pieces."""
    data, reader = bytes(range(256)) * (size // 256) + b"x" * (size % 256), MessageReader()
    frame = encode_frame(Opcode.BINARY, data, mask)
    assert [*reader.feed(frame[:1]), *reader.feed(frame[1:])] == [(Opcode.BINARY, data)]


def test_fragments_are_joined_and_control_frames_pass_between_them() -> None:
    """A ping within a fragmented message comes first."""
    ping = encode_frame(Opcode.PING, b"p")
    received = MessageReader().feed(b"\x01\x02ab" + ping + b"\x80\x01c")
    assert received == [(Opcode.PING, b"p"), (Opcode.TEXT, b"abc")]


@pytest.mark.parametrize("data", [b"\xc2\x00", b"\x83\x00", b"\x80\x00", b"\x09\x00", b"\x82\x7f" + b"\xff" * 8])
def test_bytes_that_are_no_frame_are_refused(data: bytes) -> None:
    """Reserved bits and opcodes, a lost first fragment, a fragmented ping, and an endless message are errors."""
    with pytest.raises(WebSocketProtocolError):
        MessageReader().feed(data)
