"""Shard selectors hash, parse, print and match as in the API server."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.api import HASH_SPACE, ShardRange, ShardSelector, hash_field, merge_ranges, subtract_ranges
from pyctrl.errors import SelectorError

UID = "object.metadata.uid"
LOWER, UPPER = "'0x0000000000000000', '0x8000000000000000'", "'0x8000000000000000', '0x10000000000000000'"

hashes = st.integers(0, HASH_SPACE - 1)
ranges = st.tuples(hashes, hashes).map(lambda pair: ShardRange(min(pair), max(pair) + 1))
small_ranges = st.tuples(st.integers(0, 19), st.integers(1, 9)).map(lambda pair: ShardRange(pair[0], sum(pair)))


def hashes_of(parts: list[ShardRange] | tuple[ShardRange, ...]) -> set[int]:
    return {number for part in parts for number in range(part.start, part.end)}


@pytest.mark.parametrize(
    ("text", "hashed"),
    [
        ("", 0xCBF29CE484222325),
        ("a", 0xAF63DC4C8601EC8C),
        ("foobar", 0x85944171F73967E8),
        ("ü", 0x0AC20A07B71807EA),
    ],
)
def test_the_hash_is_fnv_1a_of_64_bits(text: str, hashed: int) -> None:
    """The hash of a value is FNV-1a with 64 bits of its UTF-8 bytes, so that server and client agree."""
    assert hash_field(text) == hashed


@given(st.lists(ranges, min_size=1, max_size=5), st.sampled_from(["object.metadata.uid", "object.metadata.namespace"]))
def test_a_printed_selector_parses_back(parts: list[ShardRange], field: str) -> None:
    """A printed selector parses to an equal selector, whose ranges keep their order."""
    selector = ShardSelector(tuple(parts), field)  # type: ignore[arg-type]
    assert ShardSelector.parse(str(selector)) == selector


@given(st.lists(ranges, min_size=1, max_size=5), st.text(max_size=8))
def test_an_object_is_selected_when_its_hash_is_in_any_range(parts: list[ShardRange], value: str) -> None:
    """A selector selects a value exactly when one of its ranges contains the hash, however the ranges overlap."""
    assert ShardSelector(tuple(parts)).matches(value) == any(hash_field(value) in part for part in parts)


@given(small_ranges, hashes)
def test_a_range_includes_its_start_and_excludes_its_end(part: ShardRange, other: int) -> None:
    """The first hash of a range is selected, the one at its end is not."""
    selector = ShardSelector((part,))
    assert selector.contains(part.start)
    assert selector.contains(part.end - 1)
    assert not selector.contains(part.end)
    assert selector.contains(other) == (part.start <= other < part.end)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_split_covers_every_hash_once(count: int) -> None:
    """The ranges of a split touch each other and cover the whole hash space."""
    parts = ShardRange.split(count)
    assert len(parts) == count
    assert [part.start for part in parts[1:]] == [part.end for part in parts[:-1]]
    assert merge_ranges(parts) == (ShardRange(0, HASH_SPACE),)


@given(st.lists(small_ranges, max_size=5), st.lists(small_ranges, max_size=5))
def test_ranges_are_merged_and_subtracted_as_sets_of_hashes(parts: list[ShardRange], removed: list[ShardRange]) -> None:
    """Merged ranges have the same hashes without touching each other; a difference has those that were not removed."""
    merged = merge_ranges(parts)
    assert hashes_of(merged) == hashes_of(parts)
    assert all(before.end < after.start for before, after in itertools.pairwise(merged))
    assert hashes_of(subtract_ranges(parts, removed)) == hashes_of(parts) - hashes_of(removed)


@pytest.mark.parametrize(
    "text",
    [
        f"  shardRange( {UID} ,\t'0x0000000000000000' ,  '0x8000000000000000' )\n",
        f"shardRange({UID},'0x0000000000000000','0x8000000000000000')",
    ],
)
def test_spaces_of_a_selector_do_not_matter(text: str) -> None:
    """A selector parses with any spaces, and prints in one form."""
    assert str(ShardSelector.parse(text)) == f"shardRange({UID}, {LOWER})"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a shard selector like"),
        (f"shardRange({UID}, '0x0', '0x8000000000000000')", "expected a shard selector like"),
        (f"shardRange({UID}, '0x0000000000000000', '0x8000000000000000') ||", "expected a shard selector like"),
        (f"shardRange({UID}, '0x0000000000000000', '0x800000000000000A')", "expected a shard selector like"),
        (f"shardRange({UID}, '0x0000000000000000', '0x20000000000000000')", "expected a shard selector like"),
        (f"shardRange(object.metadata.name, {LOWER})", "expected a shard selector like"),
        (
            f"shardRange({UID}, '0x8000000000000000', '0x8000000000000000')",
            "shard range start 0x8000000000000000 must be less than end 0x8000000000000000",
        ),
        (
            f"shardRange({UID}, {LOWER}) || shardRange(object.metadata.namespace, {UPPER})",
            "all shard ranges must use the same field, got 'object.metadata.uid' and 'object.metadata.namespace'",
        ),
    ],
)
def test_a_text_that_is_no_selector_is_refused(text: str, message: str) -> None:
    """A text that is no shard selector raises a SelectorError that says what was expected."""
    with pytest.raises(SelectorError) as raised:
        ShardSelector.parse(text)
    assert message in str(raised.value)


def test_a_selector_that_cannot_be_sent_cannot_be_built() -> None:
    """Ranges outside of the hash space, a selector without ranges and other fields raise a SelectorError."""
    with pytest.raises(SelectorError, match="is not within 0x0000000000000000 and 0x10000000000000000"):
        ShardRange(0, HASH_SPACE + 1)
    with pytest.raises(SelectorError, match="is not within"):
        ShardRange(-1, 5)
    with pytest.raises(SelectorError, match="at least one range"):
        ShardSelector(())
    with pytest.raises(SelectorError, match="unsupported field path 'object.metadata.name'"):
        ShardSelector((ShardRange(0, 1),), "object.metadata.name")  # type: ignore[arg-type]
