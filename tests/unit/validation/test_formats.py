"""String formats: which texts match, and matching of long texts."""

from __future__ import annotations

import pytest

from pyctrl._validation.formats import is_of_format

LONG = 200_000


@pytest.mark.parametrize("text", ["1" * LONG, "1." * LONG, "1 " * LONG, "1h" * LONG + "!"])
def test_durations_take_linear_time(text: str) -> None:
    """Texts come from clients: a pattern that backtracks would not end here."""
    assert not is_of_format("duration", text)


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        ("rgbcolor", "rgb( 0, 99,255)", "rgb(256,0,0)"),
        ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
        ("creditcard", "378282246310005", "1234567812345670"),
        ("isbn", "978-3-401-01319-0", "978-3-401-01319-1"),
        ("isbn10", "0 321 75104 3", "0321751044"),
        ("isbn10", "080442957X", "X804429570"),
        ("isbn13", "9783401013190", "0321751043"),
        ("ssn", "123-45 6789", "123456789"),
        ("mac", "0123.4567.89ab.cdef", "01:23:45-67:89:ab"),
        ("mac", "0123456789ab", "0123456789"),
        ("ipv4", "010.0.0.1", "10.0.0"),
        ("ipv4", "::ffff:1.2.3.4", "::1"),
        ("ipv6", "::1", "1.2.3.4"),
        ("cidr", "010.0.0.0/8", "10.0.0.0/33"),
        ("cidr", "fd00::/64", "10.0.0.1"),
        ("email", "Jane Doe <jane@example.com>", "jane"),
        ("email", '"j d"@example.com (home)', "jane@example.com, joe@example.com"),
        ("uri", "https://a.example/b c", "https://a b/"),
        ("uri", "/path", "path"),
        ("hostname", "a.example", f"{'a' * 64}.example"),
    ],
)
def test_a_format_has_the_rules_of_its_standard(name: str, valid: str, invalid: str) -> None:
    """Check digits, ranges and separators count, as in kube-openapi's formats."""
    assert is_of_format(name, valid)
    assert not is_of_format(name, invalid)


def test_a_long_text_is_no_address_at_once() -> None:
    """The time of a check grows with the length of a text, not exponentially: a client chooses the text."""
    assert not is_of_format("email", "a" * 10_000 + "\0")
    assert not is_of_format("email", "a b." * 2_500 + "<")
