"""Type checker: finds the type of each node of an expression and the overloads that each call may use.

It follows cel-go's rules and reports errors in its words. The types of objects come from CRD schemas.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyctrl.cel._errors import Issue
from pyctrl.cel._expressions import (
    Call,
    Comprehension,
    Constant,
    Expression,
    Identifier,
    ListLiteral,
    MapEntry,
    MapLiteral,
    Select,
    walk,
)
from pyctrl.cel._signatures import Overload
from pyctrl.cel._types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    FieldType,
    Substitution,
    Type,
    is_optional,
    list_of,
    map_of,
    optional_of,
    type_of,
)
from pyctrl.cel._values import Uint

__all__ = ["Checker"]


_UNDECLARED = "undeclared reference to '{}' (in container '')"
_CONSTANTS = {bool: BOOL, int: INT, Uint: UINT, float: DOUBLE, str: STRING, bytes: BYTES, type(None): NULL}


class Checker:
    """Type checker of one expression. `issues` has the errors after `check`."""

    def __init__(
        self,
        variables: Mapping[str, Type],
        functions: Mapping[str, tuple[Overload, ...]],
        type_names: Mapping[str, Type],
    ) -> None:
        self._scopes: list[Mapping[str, Type]] = [variables]
        self._functions = functions
        self._type_names = type_names
        self._substitution = Substitution()
        self.issues: list[Issue] = []

    def check(self, expression: Expression) -> Type:
        """Return the type of an expression and set the type of each of its nodes."""
        self._check(expression)
        for each in walk(expression):
            each.type = self._substitution.apply(each.type, is_final=True)
        return expression.type

    # -- parts -------------------------------------------------------------------------------------------------

    def _check(self, expression: Expression) -> Type:
        match expression:
            case Constant(value=value):
                found = _CONSTANTS[type(value)]
            case Identifier(name=name):
                found = self._identifier(expression, name)
            case Select():
                found = self._select(expression)
            case Call():
                found = self._call(expression)
            case ListLiteral():
                found = self._list(expression)
            case MapLiteral():
                found = self._map(expression) if not expression.message else self._message(expression)
            case Comprehension():
                found = self._comprehension(expression)
            case _:
                raise TypeError(f"{expression!r} is not a node of an expression")
        expression.type = found
        return found

    def _report(self, where: Expression | MapEntry, message: str) -> Type:
        self.issues.append(Issue(where.at, message))
        return ERROR

    def _undeclared(self, where: Expression, name: str) -> Type:
        return self._report(where, _UNDECLARED.format(name))

    def _lookup(self, name: str) -> Type | None:
        scopes = self._scopes[:1] if name.startswith(".") else self._scopes  # a leading dot means the outermost scope
        name = name.removeprefix(".")
        for scope in reversed(scopes):
            if name in scope:
                return scope[name]
        named = self._type_names.get(name)
        return type_of(named) if named is not None else None

    def _identifier(self, expression: Expression, name: str) -> Type:
        found = self._lookup(name)
        return found if found is not None else self._undeclared(expression, name)

    # -- fields ------------------------------------------------------------------------------------------------

    def _select(self, select: Select) -> Type:
        name = qualified_name(select)
        if name is not None and not select.is_test and (found := self._lookup(name)) is not None:
            select.variable = name
            return found
        operand = self._check(select.operand)
        found = self._field(select, select.field, operand, is_optional_select=False)
        return BOOL if select.is_test else found

    def _field(self, where: Expression, field: str, operand: Type, *, is_optional_select: bool) -> Type:
        target = self._substitution.apply(operand)
        is_wrapped = is_optional(target)
        if is_wrapped:
            target = self._substitution.apply(target.parameters[0])
        if target.kind == "map":
            found = target.parameters[1]
        elif target.kind == "object":
            found = self._field_of(where, field, target)
        elif target.kind == "parameter":
            self._substitution.fits(target, DYN)
            found = DYN
        elif target.is_dynamic or is_wrapped:
            found = DYN
        elif target.kind == "opaque" and target.name.startswith("kubernetes."):  # for cel-go an object without fields
            found = self._report(where, f"unexpected failed resolution of '{target}'")
        else:
            found = self._report(where, f"type '{target}' does not support field selection")
        return optional_of(found) if is_wrapped or is_optional_select else found

    def _field_of(self, where: Expression, field: str, target: Type) -> Type:
        found = target.fields.get(field)
        if found is None:
            return self._report(where, f"undefined field '{field}'")
        if isinstance(where, Select):
            where.key = found.key
        elif isinstance(where, Call) and isinstance(where.arguments[1], Constant):
            where.arguments[1].value = found.key
        return found.type

    # -- functions ---------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> Type:
        if call.function == "_?._" and isinstance(call.arguments[1], Constant):
            call.arguments[1].type = STRING
            operand = self._check(call.arguments[0])
            return self._field(call, call.arguments[1].value, operand, is_optional_select=True)
        if call.function in ("_&&_", "_||_"):
            for each in call.arguments:
                self._check(each)
                self._expect(each, BOOL)
            return BOOL
        if call.target is not None:
            name = qualified_name(call.target)
            if name is not None and f"{name}.{call.function}" in self._functions:
                call.function, call.target = f"{name}.{call.function}", None
        given = [self._check(each) for each in call.operands]
        declared = self._functions.get(call.function)
        if declared is None:
            return self._undeclared(call, call.function)
        return self._overload(call, declared, given)

    def _overload(self, call: Call, declared: tuple[Overload, ...], given: list[Type]) -> Type:
        result: Type | None = None
        fitting: list[Overload] = []
        for overload in declared:
            if overload.is_member != (call.target is not None):
                continue
            fresh = {name: self._substitution.fresh() for name in overload.variables}
            wanted = [_instance(each, fresh) for each in overload.parameters]
            if not self._substitution.fits_all(given, wanted):
                continue
            fitting.append(overload)
            found = self._substitution.apply(_instance(overload.result, fresh))
            result = found if result is None or result == found else DYN
        call.overloads = tuple(fitting)
        return result if result is not None else self._no_overload(call, given)

    def _no_overload(self, call: Call, given: list[Type]) -> Type:
        shown = [str(self._substitution.apply(each, is_final=True)) for each in given]
        target = f"{shown.pop(0)}." if call.target is not None else ""
        signature = f"{target}({', '.join(shown)})"
        return self._report(call, f"found no matching overload for '{call.function}' applied to '{signature}'")

    def _expect(self, expression: Expression, wanted: Type) -> None:
        if not self._substitution.fits(expression.type, wanted):
            self._report(expression, f"expected type '{wanted}' but found '{self._final(expression.type)}'")

    def _final(self, kind: Type) -> Type:
        return self._substitution.apply(kind, is_final=True)

    # -- literals ----------------------------------------------------------------------------------------------

    def _list(self, literal: ListLiteral) -> Type:
        found: Type | None = None
        for index, item in enumerate(literal.items):
            kind = self._check(item)
            if index in literal.optional:
                kind = self._unwrapped(item, kind)
            found = self._join(found, kind)
        return list_of(found if found is not None else self._substitution.fresh())

    def _map(self, literal: MapLiteral) -> Type:
        key: Type | None = None
        value: Type | None = None
        for entry in literal.entries:
            key = self._join(key, self._check(entry.key))
            kind = self._check(entry.value)
            if entry.is_optional:
                kind = self._unwrapped(entry.value, kind)
            value = self._join(value, kind)
        if key is None or value is None:
            return map_of(self._substitution.fresh(), self._substitution.fresh())
        return map_of(key, value)

    def _unwrapped(self, where: Expression, kind: Type) -> Type:
        kind = self._substitution.apply(kind)
        if is_optional(kind):
            return kind.parameters[0]
        if not kind.is_dynamic or kind == ERROR:
            self._report(where, f"expected type 'optional_type({kind})' but found '{kind}'")
        return kind

    def _join(self, known: Type | None, kind: Type) -> Type:
        if known is None:
            return kind
        if not self._substitution.fits(known, kind):
            return DYN
        return kind if kind.is_dynamic else known

    def _message(self, literal: MapLiteral) -> Type:
        where = literal.at + len(literal.message)
        found = self._message_type(literal.message, where)
        if found is None:
            return ERROR
        fields = MESSAGES.get(literal.message, found.fields)
        for entry in literal.entries:
            kind = self._check(entry.value)
            if entry.is_optional:
                kind = self._unwrapped(entry.value, kind)
            name = entry.key.value if isinstance(entry.key, Constant) else ""
            wanted = fields.get(name)
            if wanted is None:
                self._report(entry, f"undefined field '{name}'")
            elif not self._substitution.fits(kind, wanted.type):
                shown = f"'{wanted.type}' but provided type is '{self._final(kind)}'"
                self._report(entry, f"expected type of field '{name}' is {shown}")
        return found

    def _message_type(self, name: str, at: int) -> Type | None:
        """Return the type of a message; report a name that is not one and return None."""
        named = self._lookup(name)
        problem = ""
        if named is None:
            problem = _UNDECLARED.format(name)
        elif named.kind != "type":
            problem = f"'{named}' is not a type"
        elif named.parameters[0].kind != "object" and name not in MESSAGES:
            problem = f"'{named.parameters[0]}' is not a message type"
        if problem or named is None:
            self.issues.append(Issue(at, problem))
            return None
        return named.parameters[0]

    # -- loops -------------------------------------------------------------------------------------------------

    def _comprehension(self, loop: Comprehension) -> Type:
        ranged = self._substitution.apply(self._check(loop.range))
        initial = self._check(loop.initial)
        first, second = self._items(loop, ranged)
        names = {loop.variable: first, loop.second: second} if loop.second else {loop.variable: first}
        self._scopes.append({loop.accumulator: initial})
        self._scopes.append(names)
        self._check(loop.condition)
        self._expect(loop.condition, BOOL)
        self._check(loop.step)
        self._expect(loop.step, initial)
        self._scopes.pop()
        found = self._check(loop.result)
        self._scopes.pop()
        return self._substitution.apply(found)

    def _items(self, loop: Comprehension, ranged: Type) -> tuple[Type, Type]:
        """Return the types of the variables: item, or index and item, or key, or key and value."""
        if ranged.kind == "list":
            item = ranged.parameters[0]
            return (INT, item) if loop.second else (item, DYN)
        if ranged.kind == "map":
            key, value = ranged.parameters
            return key, value
        if ranged.is_dynamic:
            return (ERROR, ERROR) if ranged == ERROR else (DYN, DYN)
        if ranged.kind == "parameter":
            self._substitution.fits(ranged, DYN)
            return DYN, DYN
        why = f"expression of type '{ranged}' cannot be range of a comprehension (must be list, map, or dynamic)"
        self._report(loop.range, why)
        return ERROR, ERROR


def qualified_name(expression: Expression) -> str | None:
    """Return `a.b.c` for a chain of fields, which may be one name with dots; None for other expressions."""
    match expression:
        case Identifier(name=name):
            return name
        case Select(operand=operand, field=field, is_test=False):
            before = qualified_name(operand)
            return None if before is None else f"{before}.{field}"
    return None


def _instance(kind: Type, fresh: Mapping[str, Type]) -> Type:
    if kind.kind == "parameter":
        return fresh[kind.name]
    if not kind.parameters:
        return kind
    return Type(kind.kind, kind.name, tuple(_instance(each, fresh) for each in kind.parameters), kind.fields)


_SECONDS = {name: FieldType(name, INT) for name in ("seconds", "nanos")}
#: The fields of messages that are not objects.
MESSAGES: Mapping[str, Mapping[str, FieldType]] = {
    "google.protobuf.Timestamp": _SECONDS,
    "google.protobuf.Duration": _SECONDS,
}
