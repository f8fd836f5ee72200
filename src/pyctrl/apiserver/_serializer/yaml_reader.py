"""YAML as kube-apiserver reads it: with go-yaml's scalars and errors, and string keys as in JSON."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Hashable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import yaml

__all__ = ["add_go_resolvers", "read_yaml", "read_yaml_documents", "read_yaml_nodes"]

ALIAS_LIMIT = 400_000  # nodes that aliases may expand to; go-yaml's threshold for excessive aliasing
QUICK_DEPTH = 1_000  # levels that libyaml may compose

# libyaml's messages where those of PyYAML differ.
_MESSAGES = {
    "mapping values are not allowed here": "mapping values are not allowed in this context",
    "sequence entries are not allowed here": "block sequence entries are not allowed in this context",
    "mapping keys are not allowed here": "mapping keys are not allowed in this context",
    "could not find expected ':'": "could not find expected ':'",
}
_LINE_BREAKS = "\r\n\x85\u2028\u2029"
_NO_START = re.compile(r"found character .* that cannot start any token")
_SURROGATE = re.compile("[\ud800-\udfff]")  # PyYAML unescapes what libyaml refuses
_NO_ALIAS = re.compile(r"found undefined alias (.*)")
_EXPECTED = (
    (re.compile(r"expected the node content"), "did not find expected node content"),
    (re.compile(r"expected ',' or ']'"), "did not find expected ',' or ']'"),
    (re.compile(r"expected ',' or '}'"), "did not find expected ',' or '}'"),
    (re.compile(r"expected <block end>"), "did not find expected key"),
    (re.compile(r"expected '<document start>'"), "did not find expected <document start>"),
)


def read_yaml(text: bytes, duplicates: list[str]) -> Any:
    """Decode the first document; append errors about duplicate keys to `duplicates`.

    Raises:
        ValueError: It is no YAML; the message is go-yaml's.
    """
    return next(read_yaml_documents(text, duplicates), None)


def read_yaml_documents(text: bytes, duplicates: list[str]) -> Iterator[Any]:
    """Yield all documents, decoded as by `read_yaml`."""
    import yaml

    try:
        loader = _loader()(text)
        loader.duplicates = duplicates
        while loader.check_node():
            yield _built(loader, loader.get_node())
    except yaml.MarkedYAMLError as error:
        raise ValueError(_error_message(error)) from error
    except yaml.YAMLError as error:
        raise ValueError(f"yaml: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise ValueError("yaml: exceeded max depth") from error


def read_yaml_nodes(text: bytes) -> Iterator[tuple[Any, yaml.Node]]:
    """Yield all documents, each with its node tree, whose nodes have lines and columns."""
    import yaml

    text = text.replace(b"\t", b" ") if text.lstrip()[:1] in (b"{", b"[") else text  # JSON may be indented by tabs
    try:
        # libyaml composes recursively in C, limited only by the stack
        nodes = list(yaml.compose_all(text, _loader(quick=True))) if _is_shallow(text) else []
    except (yaml.YAMLError, RecursionError):
        nodes = []  # the slow path below reports the error: go-yaml's messages derive from those of PyYAML
    if not nodes:
        yield from ((each, yaml.ScalarNode("", "")) for each in read_yaml_documents(text, []))
        return
    for node in nodes:
        loader = _loader()(b"")
        loader.duplicates = []
        try:
            built = _built(loader, node)
        except yaml.MarkedYAMLError as error:
            raise ValueError(_error_message(error)) from error
        yield built, node


def _is_shallow(text: bytes) -> bool:
    import yaml

    depth = 0
    for event in yaml.parse(text, _loader(quick=True)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > QUICK_DEPTH:
            return False
    return True


def _built(loader: Any, node: yaml.Node) -> Any:
    count, has_aliases = _expanded_size(node, {})
    if has_aliases and count > ALIAS_LIMIT:
        raise ValueError("yaml: document contains excessive aliasing")
    built = loader.construct_document(node)
    # Each alias becomes a separate object, as in JSON: a change of one must not change the other.
    return msgspec.json.decode(msgspec.json.encode(built)) if has_aliases else built


def _expanded_size(node: yaml.Node, known: dict[int, int]) -> tuple[int, bool]:
    """Return the number of nodes with all aliases expanded, and whether there are aliases."""
    import yaml

    if isinstance(node, yaml.ScalarNode):
        if _SURROGATE.search(node.value):
            at = f"line {node.start_mark.line + 1}: " if node.start_mark.line else ""
            raise ValueError(f"yaml: {at}found invalid Unicode character escape code")
        return 1, False
    if id(node) in known:
        if not known[id(node)]:
            raise ValueError("yaml: anchor value contains itself")
        return known[id(node)], True
    known[id(node)] = 0  # marks a node that is being counted
    children = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    counts = [_expanded_size(child, known) for child in children]
    total = known[id(node)] = 1 + sum(count for count, _ in counts)
    return total, any(aliased for _, aliased in counts)


def _error_message(error: yaml.MarkedYAMLError) -> str:
    """Return go-yaml's message, which has a line number if libyaml reports one other than the first."""
    import yaml

    problem = error.problem or str(error.context)
    if alias := _NO_ALIAS.match(problem):
        return f"yaml: unknown anchor {alias[1]} referenced"
    message = (
        "found character that cannot start any token" if _NO_START.match(problem) else _MESSAGES.get(problem, problem)
    )
    for pattern, theirs in _EXPECTED:
        if pattern.match(problem):
            message = theirs
    line = next((mark.line for mark in (error.problem_mark, error.context_mark) if mark and mark.line), 0)
    if isinstance(error, yaml.scanner.ScannerError):
        line += bool(line)
    elif not line and "expected" in message:
        line = 1
    return f"yaml: line {line}: {message}" if line else f"yaml: {message}"


@cache
def _loader(*, quick: bool = False) -> type[Any]:
    """Return a loader with go-yaml's scalars: y and n are booleans, times and 1:30 are strings, 1e3 is a number.

    Args:
        quick: Use libyaml if PyYAML has it: ten times as fast, but with other errors than go-yaml.
    """
    import yaml

    base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if quick else yaml.SafeLoader

    class Loader(base):  # type: ignore[misc, valid-type]  # either has the same methods
        duplicates: list[str]

        def scan_to_next_token(self) -> None:
            _skip_to_next_token(self)

        def scan_plain_spaces(self, indent: int, start_mark: object) -> list[str]:
            return _scan_plain_spaces(self, indent)

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            self._note_duplicates(node)
            return _construct_mapping(self, node, deep=deep)

        def _note_duplicates(self, node: yaml.MappingNode) -> None:
            seen: set[str] = set()
            for key, _ in node.value:
                name = str(key.value)
                if name in seen:
                    self.duplicates.append(f'line {key.start_mark.line + 1}: key "{name}" already set in map')
                seen.add(name)

    add_go_resolvers(Loader)
    Loader.add_constructor("tag:yaml.org,2002:bool", _construct_bool)
    Loader.add_constructor("tag:yaml.org,2002:int", _construct_int)
    Loader.add_constructor("tag:yaml.org,2002:float", _construct_float)
    Loader.add_constructor("tag:yaml.org,2002:binary", _construct_binary)
    Loader.add_constructor("tag:yaml.org,2002:timestamp", _construct_timestamp)
    Loader.add_constructor(None, _construct_unknown)
    return Loader


def _construct_mapping(loader: Any, node: yaml.MappingNode, *, deep: bool) -> dict[str, Any]:
    """Construct a map with sorted text keys; PyYAML takes keys for one that are equal in Python, as 1 and true."""
    import yaml

    loader.flatten_mapping(node)
    found: dict[str, Any] = {}
    for key, value in node.value:
        name = loader.construct_object(key, deep=True)
        if not isinstance(name, Hashable):
            context, problem = "while constructing a mapping", "found unhashable key"
            raise yaml.constructor.ConstructorError(context, node.start_mark, problem, key.start_mark)
        found[_as_key(name)] = loader.construct_object(value, deep=deep)
    return {name: found[name] for name in sorted(found)}


def _skip_to_next_token(scanner: Any) -> None:
    """Skip spaces, comments and line breaks, and tabs as libyaml does; PyYAML refuses all tabs."""
    if scanner.index == 0 and scanner.peek() == "\ufeff":
        scanner.forward()
    while True:
        while (found := scanner.peek()) == " " or (
            found == "\t" and (scanner.flow_level or not scanner.allow_simple_key)
        ):
            scanner.forward()
        if found == "#":
            while scanner.peek() not in "\0" + _LINE_BREAKS:
                scanner.forward()
        if not scanner.scan_line_break():
            return
        if not scanner.flow_level:
            scanner.allow_simple_key = True


def _scan_plain_spaces(scanner: Any, indent: int) -> list[str]:
    """Scan what is between the words of a plain scalar; return the text that it stands for."""
    import yaml

    spaces, breaks = "", list[str]()
    while (found := scanner.peek()) in " \t" + _LINE_BREAKS:
        if found in _LINE_BREAKS:
            breaks.append(scanner.scan_line_break())
            scanner.allow_simple_key = True
            if scanner.prefix(3) in ("---", "...") and scanner.peek(3) in "\0 \t" + _LINE_BREAKS:
                return []
            continue
        if breaks and found == "\t" and scanner.column < indent:
            problem = "found a tab character that violates indentation"
            raise yaml.scanner.ScannerError(None, None, problem, scanner.get_mark())
        spaces += found
        scanner.forward()
    if not breaks:
        return [spaces] if spaces else []
    return breaks if breaks[0] != "\n" else breaks[1:] or [" "]


def add_go_resolvers(target: type[yaml.SafeLoader | yaml.SafeDumper]) -> None:
    """Let a loader or dumper take the type of a plain scalar as go-yaml does, without PyYAML's resolvers."""
    target.yaml_implicit_resolvers = {}
    words = "y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF"
    resolver = target.add_implicit_resolver
    resolver("tag:yaml.org,2002:bool", re.compile(f"^(?:{words})$"), list("yYnNtTfFoO"))
    resolver("tag:yaml.org,2002:int", _INTEGER, list("-+0123456789"))
    resolver("tag:yaml.org,2002:float", re.compile(_FLOAT), list("-+0123456789."))
    resolver("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
    resolver("tag:yaml.org,2002:merge", re.compile(r"^(?:<<)$"), ["<"])


_INTEGER = re.compile(r"^[-+]?(?:0|[1-9][0-9_]*|0[0-7_]+|0[oO][0-7_]+|0[xX][0-9a-fA-F_]+|0[bB][01_]+)$")
_FLOAT = r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"


def _construct_bool(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> bool:
    return str(node.value).lower() in ("y", "yes", "true", "on")


def _construct_int(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float | int | str:
    """Construct a 64-bit integer; as in go-yaml, a larger one is a float, and other text is a string."""
    text = str(node.value).replace("_", "")
    digits = text.lstrip("+-")
    is_octal = digits[:1] == "0" and digits[1:].isdecimal()  # as in YAML 1.1
    try:
        number = int(text, 8 if is_octal else 0)
    except ValueError as error:  # 0x_, more digits than Python converts, or an explicit tag
        if _INTEGER.fullmatch(node.value):
            return str(node.value)
        raise _wrong_tag(node, "!!int") from error
    return number if -(2**63) <= number < 2**64 else _construct_float(loader, node)


def _construct_float(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float | int | str:
    try:
        number = float(node.value)
    except ValueError as error:
        if _INTEGER.fullmatch(node.value):
            return str(node.value)
        raise _wrong_tag(node, "!!float") from error
    if math.isinf(number):
        return str(node.value)
    return int(number) if number.is_integer() and abs(number) < 2**63 else number


def _construct_binary(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    try:
        return base64.b64decode(node.value, validate=True).decode(errors="replace")
    except ValueError as error:
        raise ValueError("yaml: !!binary value contains invalid base64 data") from error


def _construct_timestamp(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Any:
    import yaml

    try:
        return yaml.SafeLoader.construct_yaml_timestamp(loader, node)
    except (AttributeError, ValueError) as error:  # AttributeError: PyYAML's error for text that is no timestamp
        raise _wrong_tag(node, "!!timestamp") from error


def _wrong_tag(node: yaml.ScalarNode, tag: str) -> ValueError:
    return ValueError(f"yaml: cannot decode !!str `{node.value}` as a {tag}")


def _construct_unknown(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
    """Construct a node with an unknown tag as if it had none."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return loader.construct_sequence(node, deep=True) if isinstance(node, yaml.SequenceNode) else str(node.value)


def _as_key(key: object) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)
