"""OpenAPI documents as protobuf, which client-go requests: gnostic's messages for the versions 2 and 3."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

import msgspec

from pyctrl._protobuf_wire import WireType
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.apiserver._serializer.yaml_writer import write_yaml

__all__ = ["document_as_protobuf"]


class Field(NamedTuple):
    """A field of a message."""

    number: int
    type: str
    is_repeated: bool


Messages = dict[str, dict[str, Field]]

_REFERENCE = "OrReference"
#: The number and the message of a v2 parameter by its place.
_PLACES = {
    "header": (1, "HeaderOrPathParameter"),
    "formData": (2, "FormOrQueryParameter"),
    "query": (3, "FormOrQueryParameter"),
    "path": (4, "HeaderOrPathParameter"),
}


def document_as_protobuf(document: Mapping[str, JSON]) -> bytes:
    """Encode a document, v2 or v3."""
    return _Encoder(_messages_v2() if "swagger" in document else _messages_v3()).message("Document", document)


class _Encoder:
    """Encodes parts of a document. Extensions are YAML, which is slow to write: most of them occur many times."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._is_v2 = messages is _messages_v2()
        self._yaml: dict[bytes, bytes] = {}

    def message(self, name: str, value: JSON) -> bytes:
        """Encode a part as a message. Keys that the message lacks are left out."""
        return b"".join(self._parts(name, value))

    def _parts(self, name: str, value: JSON) -> Iterator[bytes]:
        fields = self._messages.get(name)
        if fields is None:
            yield self._union(name, value)
            return
        for key, each in value.items():
            field = fields.get(key)
            if field is not None:
                for item in each if field.is_repeated else (each,):
                    yield self._field(field, item)
            elif (field := fields.get("x-" if key.startswith("x-") and "x-" in fields else "*")) is not None:
                yield _length_delimited(field.number, _text(1, key) + self._named(field.type, each))

    def _named(self, type_: str, value: JSON) -> bytes:
        return self._field(Field(2, type_, is_repeated=False), value)

    def _field(self, field: Field, value: JSON) -> bytes:
        """Encode a field. Upstream's messages lack a scalar that is zero."""
        number, type_, is_repeated = field
        if type_ in _SCALARS:
            return _SCALARS[type_](number, value) if value or is_repeated else b""
        return _length_delimited(number, self._any(value) if type_ == "Any" else self.message(type_, value))

    def _any(self, value: JSON) -> bytes:
        key = msgspec.json.encode(value)
        if key not in self._yaml:
            self._yaml[key] = _length_delimited(2, write_yaml(value, sort_keys=False).removesuffix(b"...\n"))
        return self._yaml[key]

    def _union(self, name: str, value: JSON) -> bytes:
        """Encode a message that has one of several fields, by the value."""
        if name == "StringArray":
            return b"".join(_text(1, each) for each in ([value] if isinstance(value, str) else value))
        if name == "Default":
            return _default(value)
        if name == "SchemaOrBool" and isinstance(value, bool):
            return _flag(2, value)
        number, type_ = self._choice(name, value)
        return _length_delimited(number, self.message(type_, value))

    def _choice(self, name: str, value: JSON) -> tuple[int, str]:
        """Return the number and the type of the field that a union has for a value."""
        if name.endswith(_REFERENCE):
            return (2, "Reference") if "$ref" in value else (1, name.removesuffix(_REFERENCE))
        if name == "Parameter":
            return (1, "BodyParameter") if value["in"] == "body" else (2, "NonBodyParameter")
        if name == "NonBodyParameter":
            return _PLACES[value["in"]]
        if name == "SecurityDefinition":
            return 2, "ApiKey"
        return 1, "Schema" if self._is_v2 else "SchemaOrReference"


def _default(value: JSON) -> bytes:
    """Encode the default of a v3 schema: a number, boolean or text; others have no form."""
    if isinstance(value, bool):
        return _flag(2, value)
    if isinstance(value, str):
        return _text(3, value)
    return _double(1, value) if isinstance(value, (int, float)) else b""


def _text(number: int, text: str) -> bytes:
    return _length_delimited(number, text.encode())


def _length_delimited(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | WireType.BYTES) + _varint(len(data)) + data


def _flag(number: int, value: bool) -> bytes:
    return _varint(number << 3 | WireType.VARINT) + _varint(int(value))


def _integer(number: int, value: float) -> bytes:
    return _varint(number << 3 | WireType.VARINT) + _varint(int(value) & 2**64 - 1)


def _double(number: int, value: float) -> bytes:
    return _varint(number << 3 | WireType.FIXED64) + struct.pack("<d", value)


_SCALARS: dict[str, Callable[[int, JSON], bytes]] = {"string": _text, "bool": _flag, "int": _integer, "double": _double}


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


# A field is a key of the JSON document, its number and its type, which is a string if it is left out. `[]` is repeated.
# Its key `x-` is that of all extensions, and `*` that of all other keys: these fields are pairs of a name and a value.

_V2 = """
Document: swagger=1 info=2:Info host=3 basePath=4 schemes=5:[] consumes=6:[] produces=7:[] paths=8:Paths
  definitions=9:Schemas parameters=10:Parameters responses=11:ResponseDefinitions security=12:SecurityRequirement[]
  securityDefinitions=13:SecurityDefinitions tags=14:Tag[] externalDocs=15:ExternalDocs x-=16:Any

Info: title=1 version=2 description=3 termsOfService=4 contact=5:Contact license=6:License x-=7:Any
Contact: name=1 url=2 email=3 x-=4:Any
License: name=1 url=2 x-=3:Any
ExternalDocs: description=1 url=2 x-=3:Any
Tag: name=1 description=2 externalDocs=3:ExternalDocs x-=4:Any
SecurityRequirement: *=1:StringArray
SecurityDefinitions: *=1:SecurityDefinition
ApiKey: type=1 name=2 in=3 description=4 x-=5:Any
Reference: $ref=1 description=2

Paths: x-=1:Any *=2:PathItem
PathItem: $ref=1 get=2:Operation put=3:Operation post=4:Operation delete=5:Operation options=6:Operation
  head=7:Operation patch=8:Operation parameters=9:ParameterOrReference[] x-=10:Any
Operation: tags=1:[] summary=2 description=3 externalDocs=4:ExternalDocs operationId=5 produces=6:[] consumes=7:[]
  parameters=8:ParameterOrReference[] responses=9:Responses schemes=10:[] deprecated=11:bool
  security=12:SecurityRequirement[] x-=13:Any
Responses: x-=2:Any *=1:ResponseOrReference
ResponseDefinitions: *=1:Response
Response: description=1 schema=2:SchemaItem headers=3:Headers examples=4:Examples x-=5:Any
Examples: *=1:Any
Headers: *=1:Header
Header: type=1 format=2 items=3:Items collectionFormat=4 default=5:Any maximum=6:double exclusiveMaximum=7:bool
  minimum=8:double exclusiveMinimum=9:bool maxLength=10:int minLength=11:int pattern=12 maxItems=13:int minItems=14:int
  uniqueItems=15:bool enum=16:Any[] multipleOf=17:double description=18 x-=19:Any
Items: type=1 format=2 items=3:Items collectionFormat=4 default=5:Any maximum=6:double exclusiveMaximum=7:bool
  minimum=8:double exclusiveMinimum=9:bool maxLength=10:int minLength=11:int pattern=12 maxItems=13:int minItems=14:int
  uniqueItems=15:bool enum=16:Any[] multipleOf=17:double x-=18:Any

Parameters: *=1:Parameter
BodyParameter: description=1 name=2 in=3 required=4:bool schema=5:Schema x-=6:Any
HeaderOrPathParameter: required=1:bool in=2 description=3 name=4 type=5 format=6 items=7:Items collectionFormat=8
  default=9:Any maximum=10:double exclusiveMaximum=11:bool minimum=12:double exclusiveMinimum=13:bool maxLength=14:int
  minLength=15:int pattern=16 maxItems=17:int minItems=18:int uniqueItems=19:bool enum=20:Any[] multipleOf=21:double
  x-=22:Any
FormOrQueryParameter: required=1:bool in=2 description=3 name=4 allowEmptyValue=5:bool type=6 format=7 items=8:Items
  collectionFormat=9 default=10:Any maximum=11:double exclusiveMaximum=12:bool minimum=13:double
  exclusiveMinimum=14:bool maxLength=15:int minLength=16:int pattern=17 maxItems=18:int minItems=19:int
  uniqueItems=20:bool enum=21:Any[] multipleOf=22:double x-=23:Any

Schemas: *=1:Schema
Schema: $ref=1 format=2 title=3 description=4 default=5:Any multipleOf=6:double maximum=7:double exclusiveMaximum=8:bool
  minimum=9:double exclusiveMinimum=10:bool maxLength=11:int minLength=12:int pattern=13 maxItems=14:int minItems=15:int
  uniqueItems=16:bool maxProperties=17:int minProperties=18:int required=19:[] enum=20:Any[]
  additionalProperties=21:SchemaOrBool type=22:StringArray items=23:SchemaItem allOf=24:Schema[] properties=25:Schemas
  discriminator=26 readOnly=27:bool externalDocs=29:ExternalDocs example=30:Any x-=31:Any
"""

_V3 = """
Document: openapi=1 info=2:Info servers=3:Server[] paths=4:Paths components=5:Components
  security=6:SecurityRequirement[] tags=7:Tag[] externalDocs=8:ExternalDocs x-=9:Any

Info: title=1 description=2 termsOfService=3 contact=4:Contact license=5:License version=6 x-=7:Any summary=8
Contact: name=1 url=2 email=3 x-=4:Any
License: name=1 url=2 x-=3:Any
ExternalDocs: description=1 url=2 x-=3:Any
Tag: name=1 description=2 externalDocs=3:ExternalDocs x-=4:Any
Server: url=1 description=2 x-=4:Any
SecurityRequirement: *=1:StringArray
Components: schemas=1:Schemas responses=2:ResponseMap parameters=3:Parameters requestBodies=5:RequestBodies
  headers=6:Headers securitySchemes=7:SecuritySchemes x-=10:Any
SecuritySchemes: *=1:SecuritySchemeOrReference
SecurityScheme: type=1 description=2 name=3 in=4 scheme=5 bearerFormat=6 openIdConnectUrl=8 x-=9:Any
Reference: $ref=1 summary=2 description=3

Paths: *=1:PathItem x-=2:Any
PathItem: $ref=1 summary=2 description=3 get=4:Operation put=5:Operation post=6:Operation delete=7:Operation
  options=8:Operation head=9:Operation patch=10:Operation trace=11:Operation servers=12:Server[]
  parameters=13:ParameterOrReference[] x-=14:Any
Operation: tags=1:[] summary=2 description=3 externalDocs=4:ExternalDocs operationId=5
  parameters=6:ParameterOrReference[] requestBody=7:RequestBodyOrReference responses=8:Responses deprecated=10:bool
  security=11:SecurityRequirement[] servers=12:Server[] x-=13:Any
Parameters: *=1:ParameterOrReference
Parameter: name=1 in=2 description=3 required=4:bool deprecated=5:bool allowEmptyValue=6:bool style=7 explode=8:bool
  allowReserved=9:bool schema=10:SchemaOrReference example=11:Any content=13:MediaTypes x-=14:Any
RequestBodies: *=1:RequestBodyOrReference
RequestBody: description=1 content=2:MediaTypes required=3:bool x-=4:Any
ResponseMap: *=1:ResponseOrReference
Responses: default=1:ResponseOrReference *=2:ResponseOrReference x-=3:Any
Response: description=1 headers=2:Headers content=3:MediaTypes x-=5:Any
Headers: *=1:HeaderOrReference
Header: description=1 required=2:bool deprecated=3:bool allowEmptyValue=4:bool style=5 explode=6:bool
  allowReserved=7:bool schema=8:SchemaOrReference example=9:Any content=11:MediaTypes x-=12:Any
MediaTypes: *=1:MediaType
MediaType: schema=1:SchemaOrReference example=2:Any x-=5:Any

Schemas: *=1:SchemaOrReference
Schema: nullable=1:bool readOnly=3:bool writeOnly=4:bool externalDocs=6:ExternalDocs example=7:Any deprecated=8:bool
  title=9 multipleOf=10:double maximum=11:double exclusiveMaximum=12:bool minimum=13:double exclusiveMinimum=14:bool
  maxLength=15:int minLength=16:int pattern=17 maxItems=18:int minItems=19:int uniqueItems=20:bool maxProperties=21:int
  minProperties=22:int required=23:[] enum=24:Any[] type=25 allOf=26:SchemaOrReference[] oneOf=27:SchemaOrReference[]
  anyOf=28:SchemaOrReference[] not=29:Schema items=30:SchemaItem properties=31:Schemas
  additionalProperties=32:SchemaOrBool default=33:Default description=34 format=35 x-=36:Any
"""


@cache
def _messages_v2() -> Messages:
    """Return the messages of a v2 document."""
    return _parsed(_V2)


@cache
def _messages_v3() -> Messages:
    """Return the messages of a v3 document."""
    return _parsed(_V3)


def _parsed(text: str) -> Messages:
    found: Messages = {}
    fields: dict[str, Field] = {}
    for word in text.split():
        if word.endswith(":"):
            fields = found[word[:-1]] = {}
            continue
        key, _, rest = word.partition("=")
        number, _, type_ = rest.partition(":")
        fields[key] = Field(int(number), type_.removesuffix("[]") or "string", type_.endswith("[]"))
    return found
