"""Compilation of `x-kubernetes-validations`: a tree of the schema's nodes that have rules at or below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyctrl.apiserver._schema.schema import SchemaNode
from pyctrl.cel import BOOL, STRING, CompileFailed, DeclType, Environment, Program, Type, optional_of, schema_decl_type

__all__ = [
    "NO_TYPE",
    "SELF_TYPE",
    "CompilationResult",
    "RuleNode",
    "RuleProgram",
    "printed_path",
    "rule_node",
    "self_decl_type",
]


SELF_TYPE = "selfType"  # kube-apiserver appends a number that varies
#: The error of a rule on a schema without a type.
NO_TYPE = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: "
    "unable to convert structural schema to CEL declarations"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleProgram:
    """One compiled rule."""

    program: Program
    message_program: Program | None
    message: str  # used if there is no `message_program` or its result is not usable
    display_name: str  # the name of the rule in evaluation errors
    reason: str
    field_path: str  # appended to the path of the value in errors
    is_transition: bool  # it uses `oldSelf`
    is_optional: bool  # `oldSelf` is an optional value, and the rule is evaluated for new values too
    max_cost: int  # the estimated cost of one evaluation, an upper bound


@dataclass(slots=True, eq=False, kw_only=True)
class RuleNode:
    """A schema node with rules at or below it."""

    schema: SchemaNode
    rules: tuple[RuleProgram, ...] = ()
    properties: Mapping[str, RuleNode] = field(default_factory=dict)
    additional: RuleNode | None = None
    items: RuleNode | None = None
    has_transitions: bool = False  # at or below the node


class CompilationResult:
    """The result of compiling one rule: its programs or errors."""

    def __init__(self, text: Mapping[str, Any], declaration: DeclType) -> None:
        self.text = text
        self.is_optional = bool(text.get("optionalOldSelf"))
        self._declaration = declaration
        self.program: Program | None = None
        self.message_program: Program | None = None
        self.error = self.message_error = ""
        environment = _environment(declaration.type, is_optional=self.is_optional)
        try:
            self.program = _typed(environment, text["rule"], BOOL, "cel expression must evaluate to a bool")
        except CompileFailed as failed:
            self.error = str(failed)
            return
        if message := text.get("messageExpression"):
            wanted = "messageExpression must evaluate to a string"
            try:
                self.message_program = _typed(environment, message, STRING, wanted)
            except CompileFailed as failed:
                error = str(failed).removeprefix("program ")
                self.message_error = error if error == wanted else f"messageExpression {error}"

    @property
    def is_transition(self) -> bool:
        """Whether the rule uses `oldSelf`."""
        return self.program is not None and self.program.uses("oldSelf")

    @property
    def max_cost(self) -> int:
        """The estimated cost of one evaluation of the rule, 0 if it does not compile."""
        return 0 if self.program is None else self.program.estimate_cost(self._declaration)

    @property
    def message_max_cost(self) -> int:
        """The estimated cost of one evaluation of the messageExpression."""
        return 0 if self.message_program is None else self.message_program.estimate_cost(self._declaration)

    @property
    def max_cardinality(self) -> int:
        """The number of evaluations in one object if no list or map around the rule has a limit."""
        return self._declaration.max_cardinality


def _environment(self_type: Type, *, is_optional: bool) -> Environment:
    return Environment({"self": self_type, "oldSelf": optional_of(self_type) if is_optional else self_type})


def _typed(environment: Environment, text: str, wanted: Type, why: str) -> Program:
    program = environment.compile(text)
    if program.type != wanted:
        raise CompileFailed(why)
    return program


def rule_node(schema: Mapping[str, Any], node: SchemaNode, name: str, *, is_resource: bool = False) -> RuleNode | None:
    """Compile the rules at and below a schema, whose compiled form is `node`; None if there are none."""
    rules = tuple(_rules(schema, name, is_resource=is_resource))
    properties = {
        key: found
        for key, each in (schema.get("properties") or {}).items()
        if (found := rule_node(each, node.properties[key], name)) is not None
    }
    additional, items = (
        rule_node(schema[key], each, name) if each is not None and isinstance(schema.get(key), Mapping) else None
        for key, each in (("additionalProperties", node.additional), ("items", node.items))
    )
    below = [each for each in (*properties.values(), additional, items) if each is not None]
    if not rules and not below:
        return None
    return RuleNode(
        schema=node,
        rules=rules,
        properties=properties,
        additional=additional,
        items=items,
        has_transitions=any(each.is_transition for each in rules) or any(each.has_transitions for each in below),
    )


def _rules(schema: Mapping[str, Any], name: str, *, is_resource: bool) -> Iterator[RuleProgram]:
    texts = schema.get("x-kubernetes-validations") or ()
    declaration = self_decl_type(schema, name, is_resource=is_resource) if texts else None
    if declaration is None:
        return
    for text in texts:
        found = CompilationResult(text, declaration)
        if found.program is not None:
            yield _rule(found, found.program, schema)


def self_decl_type(schema: Mapping[str, Any], name: str, *, is_resource: bool) -> DeclType | None:
    """Return the type of `self` in the rules of a schema node."""
    return schema_decl_type(schema, name, is_resource=is_resource or bool(schema.get("x-kubernetes-embedded-resource")))


def _rule(found: CompilationResult, program: Program, schema: Mapping[str, Any]) -> RuleProgram:
    text = found.text
    display_name = (text.get("message") or text["rule"]).strip()
    return RuleProgram(
        program=program,
        message_program=_usable_message(found),
        message=display_name if text.get("message") else f"failed rule: {display_name}",
        display_name=display_name,
        reason=text.get("reason") or "FieldValueInvalid",
        field_path=printed_path(text.get("fieldPath") or "", schema) or "",
        is_transition=found.is_transition,
        is_optional=found.is_optional,
        max_cost=found.max_cost,
    )


def _usable_message(found: CompilationResult) -> Program | None:
    """Return the messageExpression; None if it fails always.

    kube-apiserver evaluates a messageExpression with a plain `oldSelf`, even if it is compiled with an optional one.
    """
    program = found.message_program
    return None if program is not None and found.is_optional and program.uses("oldSelf") else program


# -- field paths -----------------------------------------------------------------------------------------------


def printed_path(path: str, schema: Mapping[str, Any]) -> str | None:
    """Return a `fieldPath` as in errors; None if the schema has no such field."""
    printed = ""
    for name in _steps(path):
        if name is None:
            return None
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        if name in properties:
            schema, printed = properties[name], f"{printed}.{name}"
        elif isinstance(additional, Mapping):
            schema, printed = additional, f"{printed}[{name}]"
        else:
            return None
    return printed


def _steps(path: str) -> Iterator[str | None]:
    """Yield the names of a path such as `.a['b']`; None at a syntax error."""
    at = 0
    while at < len(path):
        if path[at] == ".":
            end = next((i for i in range(at + 1, len(path)) if path[i] in ".["), len(path))
            name, at = path[at + 1 : end], end
            yield name if name and not name.isspace() else None
        elif path.startswith("['", at) and (end := _closing(path, at + 2)) > 0:
            yield path[at + 2 : end].replace("\\'", "'").replace("\\\\", "\\")
            at = end + 2
        else:
            yield None
            return


def _closing(path: str, at: int) -> int:
    while (end := path.find("']", at)) > 0 and path[end - 1] == "\\":
        at = end + 1
    return end
