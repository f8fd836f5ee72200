"""YAML as kube-apiserver writes it: with go-yaml's order of keys, quotes and line ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pyctrl.apiserver._serializer.yaml_reader import add_go_resolvers

if TYPE_CHECKING:
    import yaml

__all__ = ["write_yaml"]

STRING = "tag:yaml.org,2002:str"
_PART = re.compile(r"\d+|.", re.DOTALL)
_TIMESTAMP = re.compile(r"^\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d.*)?$")  # close enough: such a text is quoted

_SortKey: TypeAlias = list[tuple[int, int, str]]


def write_yaml(value: Any, *, sort_keys: bool = True) -> bytes:
    """Return the YAML of a JSON value."""
    import yaml  # here: most clients accept JSON

    text: str = yaml.dump(_sorted(value) if sort_keys else value, Dumper=_dumper(), sort_keys=False, allow_unicode=True)
    return text.encode()


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value, key=_sort_key)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def _sort_key(key: str) -> _SortKey:
    """Return the place of a key: numbers in keys count as numbers, and punctuation is before them, letters after."""
    return [
        (1, int(part), part) if part.isdecimal() else (2 if part.isalpha() else 0, 0, part)
        for part in _PART.findall(key)
    ]


@lru_cache(maxsize=1)
def _dumper() -> type[yaml.SafeDumper]:
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

        def represent_text(self, text: str) -> yaml.ScalarNode:
            """Represent a text: in lines if it has some, and in double quotes if it would be read as another type."""
            style = None
            if "\n" in text:
                style = "|"
            elif self.resolve(yaml.ScalarNode, text, (True, False)) != STRING:  # type: ignore[no-untyped-call]
                style = '"'
            return self.represent_scalar(STRING, text, style=style)

    add_go_resolvers(Dumper)
    Dumper.add_implicit_resolver("tag:yaml.org,2002:timestamp", _TIMESTAMP, list("0123456789"))
    Dumper.add_representer(str, Dumper.represent_text)
    return Dumper
