"""Feature gates of the server: kube-apiserver's alpha features that it has, off unless they are enabled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

from pyctrl._go.text import quoted

__all__ = ["FeatureGate", "enabled_features", "is_feature_gate", "parse_feature_gates"]

#: The gates that change the behaviour of the server. The features of all other gates have their defaults of 1.36.
FeatureGate: TypeAlias = Literal["ShardedListAndWatch"]

_ALL_ALPHA: Final = "AllAlpha"
_GROUPS = (_ALL_ALPHA, "AllBeta")
_BOOLS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)


def is_feature_gate(name: str) -> bool:
    """Return whether the server has a gate, or a group of gates."""
    return name in (*get_args(FeatureGate), *_GROUPS)


def enabled_features(gates: Mapping[Any, bool]) -> frozenset[str]:
    """Return the features that are enabled. `AllAlpha` is the default of every alpha feature.

    Raises:
        ValueError: There is no such gate.
    """
    for name in gates:
        if not is_feature_gate(name):
            raise ValueError(f"unrecognized feature gate: {name}")
    default = gates.get(_ALL_ALPHA, False)
    return frozenset(name for name in get_args(FeatureGate) if gates.get(name, default))


def parse_feature_gates(pairs: Iterable[str]) -> dict[str, bool]:
    """Parse the values of `--feature-gates`, each `NAME=true` or `NAME=false`.

    Raises:
        ValueError: A value is not of this form. The text is kube-apiserver's.
    """
    gates: dict[str, bool] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name, value = name.strip(), value.strip()
        if not equals:
            raise ValueError(f"missing bool value for {name}")
        if value not in _BOOLS:
            problem = f"strconv.ParseBool: parsing {quoted(value)}: invalid syntax"
            raise ValueError(f"invalid value of {name}={value}, err: {problem}")
        gates[name] = _BOOLS[value]
    return gates
