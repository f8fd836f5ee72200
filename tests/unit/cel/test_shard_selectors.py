"""Shard selectors in CEL, with the errors that a kube-apiserver 1.36.2 answered."""

import pytest

from pyctrl.api import ShardRange, ShardSelector
from pyctrl.cel import CompileFailed, parse_shard_selector

UID, HALF = "object.metadata.uid", "'0x0000000000000000', '0x8000000000000000'"
ONLY = "only shardRange() and || are allowed"
EXPECTED = "expected shardRange() call or || operator"


@pytest.mark.parametrize(
    "text",
    [
        f"shardRange({UID}, {HALF})",
        f"((shardRange({UID}, {HALF})))",
        f" shardRange({UID}, \"0x0000000000000000\", r'0x8000000000000000') // the lower half",
        f"x.shardRange({UID}, {HALF})",
    ],
)
def test_a_selector_is_read_in_any_notation(text: str) -> None:
    """Parentheses, comments, other quotes and a target do not change what a selector selects."""
    assert parse_shard_selector(text) == ShardSelector((ShardRange(0, 1 << 63),))


def test_ranges_keep_their_order() -> None:
    """The ranges of a selector are in the order of its calls, however they are grouped."""
    parts = ShardRange.split(4)
    calls = [str(ShardSelector((part,))) for part in parts]
    text = f"{calls[3]} || ({calls[0]} || {calls[2]}) || {calls[1]}"
    assert parse_shard_selector(text).ranges == (parts[3], parts[0], parts[2], parts[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"),
        ("shardRange(a", "CEL parse error: Syntax error: missing ')' at '<EOF>'"),
        ("'abc", "CEL parse error: Syntax error: token recognition error at: ''abc'"),
        ("a.?b", "CEL parse error: unsupported syntax '.?'"),
        ("[?a]", "CEL parse error: unsupported syntax '?'"),
        ("1", f"unexpected expression kind 5; {EXPECTED}"),
        ("a.b", f"unexpected expression kind 7; {EXPECTED}"),
        ("A{}", f"unexpected expression kind 8; {EXPECTED}"),
        ("{}", f"unexpected expression kind 6; {EXPECTED}"),
        ("a && b", f'unsupported function "_&&_"; {ONLY}'),
        ("has(a.b)", f'unsupported function "has"; {ONLY}'),
        ("a.b.all(c, d)", f'unsupported function "all"; {ONLY}'),
        ("shardRange()", "shardRange() requires exactly 3 arguments, got 0"),
        (
            f"shardRange(f(), {HALF})",
            "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 1",
        ),
        (
            f"shardRange(.object.metadata.uid, {HALF})",
            'unsupported field path ".object.metadata.uid"; supported: object.metadata.uid, object.metadata.namespace',
        ),
        (f"shardRange({UID}, 1u, '')", "hexStart must be a string literal, got uint64"),
        (f"shardRange({UID}, true, '')", "hexStart must be a string literal, got bool"),
        (f"shardRange({UID}, null, '')", "hexStart must be a string literal, got structpb.NullValue"),
        (f"shardRange({UID}, a, '')", "hexStart must be a string literal (e.g. '0xff'), got expression kind 3"),
        (f"shardRange({UID}, '', '')", "hexStart must have '0x' prefix, got \"\""),
        (f"shardRange({UID}, '0x', '')", "hexStart: hex value is required after '0x'"),
        (
            f"shardRange({UID}, '0x000000000000000000', '')",
            'hexStart: hex value too long (18 chars, max 17): "000000000000000000"',
        ),
        (f"shardRange({UID}, '0x0A', '')", 'hexStart: invalid hex character "A" in "0x0A"'),
        (
            f"shardRange({UID}, '0x20000000000000000', '')",
            "hexStart: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x20000000000000000\"",
        ),
        (
            f"shardRange({UID}, '0x0000000000000000', '0x8')",
            'hexEnd must be a 0x-prefixed 16-digit hex value, got "0x8" (did you mean "0x0000000000000008"?)',
        ),
        (
            f"shardRange({UID}, '0x8000000000000000', '0x8000000000000000')",
            "shard range start 0x8000000000000000 must be less than end 0x8000000000000000",
        ),
        (
            f"shardRange({UID}, {HALF}) || shardRange(object.metadata.namespace, {HALF})",
            'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"',
        ),
    ],
)
def test_a_text_that_is_no_selector_gets_upstreams_error(text: str, message: str) -> None:
    """The error of a text that is no shard selector is that of kube-apiserver."""
    with pytest.raises(CompileFailed) as raised:
        parse_shard_selector(text)
    assert str(raised.value) == message
