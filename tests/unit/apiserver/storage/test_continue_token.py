"""Continue tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._storage.continue_token import decode_continue, encode_continue

parts = st.text(min_size=1).filter(lambda text: not {"/", "\0"} & {*text} and text not in (".", ".."))
keys = st.lists(parts, min_size=1, max_size=2).map("/".join)


@given(st.integers(min_value=1, max_value=2**62), keys)
def test_a_continue_token_reads_back(version: int, key: str) -> None:
    """A token decodes to the version and key that it was encoded with."""
    try:
        key.encode()
    except UnicodeEncodeError:
        return
    assert decode_continue(encode_continue(version, key)) == (version, f"{key}\0")


@pytest.mark.parametrize(("text", "byte"), [("bogus", 4), ("bo!us", 2), ("e30=", 3)])
def test_the_damaged_byte_of_a_token_is_named(text: str, byte: int) -> None:
    """A client learns at which byte its token is damaged."""
    with pytest.raises(StatusError) as refused:
        decode_continue(text)
    assert f"illegal base64 data at input byte {byte}" in str(refused.value)
