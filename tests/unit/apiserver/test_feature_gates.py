"""Feature gates: names, groups and the values of `--feature-gates`."""

import pytest

from pyctrl.apiserver import ApiServer, enabled_features, parse_feature_gates


@pytest.mark.parametrize(
    ("pairs", "is_enabled"),
    [
        ((), False),
        (("ShardedListAndWatch=true",), True),
        (("ShardedListAndWatch = T ",), True),
        (("ShardedListAndWatch=true", "ShardedListAndWatch=0"), False),
        (("AllAlpha=true",), True),
        (("AllAlpha=true", "ShardedListAndWatch=false"), False),
        (("AllBeta=true",), False),
    ],
)
def test_a_feature_is_enabled_by_its_gate_or_by_all_alpha(pairs: tuple[str, ...], is_enabled: bool) -> None:
    """A feature follows its own gate, the last one given; without one it follows AllAlpha, and is off by default."""
    assert ("ShardedListAndWatch" in enabled_features(parse_feature_gates(pairs))) is is_enabled


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("ShardedListAndWatch", "missing bool value for ShardedListAndWatch"),
        (
            "ShardedListAndWatch=yes",
            'invalid value of ShardedListAndWatch=yes, err: strconv.ParseBool: parsing "yes": invalid syntax',
        ),
    ],
)
def test_a_value_that_is_no_bool_is_refused(pair: str, message: str) -> None:
    """A gate without a value, or with one that is no bool, is refused with kube-apiserver's text."""
    with pytest.raises(ValueError, match="value") as raised:
        parse_feature_gates([pair])
    assert str(raised.value) == message


def test_a_server_refuses_a_gate_that_it_does_not_have() -> None:
    """A gate of an unknown feature is an error, and not ignored."""
    with pytest.raises(ValueError, match="unrecognized feature gate: ShardedLists"):
        ApiServer(feature_gates={"ShardedLists": True})  # type: ignore[dict-item]
