"""Continue tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pyctrl.apiserver._storage.continue_token import decode_continue, encode_continue

names = st.text(min_size=1).filter(lambda text: "\0" not in text and not text.startswith("/"))


@given(st.integers(min_value=1, max_value=2**62), names)
def test_a_continue_token_reads_back(version: int, name: str) -> None:
    """A token decodes to the version and name that it was encoded with."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return
    assert decode_continue(encode_continue(version, name)) == (version, f"{name}\0")
