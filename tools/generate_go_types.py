"""Write the facts of Kubernetes' Go types that its OpenAPI documents do not have, as data of the package.

    python tools/generate_go_types.py MODULES

MODULES is the directory `k8s.io` of a Go module cache with `api`, `apimachinery`, `apiextensions-apiserver`,
`kube-aggregator` and `kubernetes` in the version that the documents in `pyctrl/_schemas` are from. The file has, by
the end of a component's name: `pointers`, scalar fields whose zero is kept; `written`, fields that are written even if
they are zero; `named`, the types of fields in decoding errors. `internal` has the internal types that messages print:
for each field the Go name, the name on the wire and the type. `hashed` has the same of `v1.PodTemplateSpec` and what
it refers to, which hashes of templates print; an embedded struct has no name on the wire. `go_fields.json` has the
fields of each struct in their order on the wire.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pyctrl import _schemas

TARGET = Path(_schemas.__file__).parent / "go_types.json"
ORDERS = TARGET.with_name("go_fields.json")
GROUPS = _schemas.GROUP_VERSIONS
STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r'^\t(?:(\w+)\s+)?([\w.*\[\]]+)(?:\s+`.*?json:"([^"]*)".*?`)?\s*(?://.*)?$', re.MULTILINE)
ALIAS = re.compile(r"^type (\w+) (string|map\[\w+\][\w.]+|\[\]\w+)$", re.MULTILINE)
SCALARS = frozenset(("string", "bool", "int32", "int64", "float64", "int"))
PRINTED = (
    *("PodTemplateSpec", "PersistentVolumeClaim", "PersistentVolumeSpec", "VolumeNodeAffinity", "VolumeAttachmentSpec"),
    *("ResourceClaimSpec", "ResourceClaimTemplateSpec", "DeviceAttribute", "AllocationResult"),
)


class Field(NamedTuple):
    """A field of a struct."""

    name: str  # "" if it is embedded
    type: str
    tag: str


def main() -> None:
    """Read the sources and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", type=Path)
    modules = parser.parse_args().modules
    found: dict[str, Any] = {"pointers": [], "written": [], "named": {}}
    folders = dict(_packages(modules))
    shared = {name for each in ("core.v1", "meta.v1") for name, _ in ALIAS.findall(_sources(folders[each]))}
    for package, folder in folders.items():
        _add_package(found, package, _sources(folder), shared)
    found["internal"] = _internal(modules)
    found["hashed"] = _hashed(_sources(folders["meta.v1"]) + _sources(folders["core.v1"]))
    TARGET.write_text(f"{json.dumps(found, indent=0, ensure_ascii=False)}\n", "utf-8")
    orders = _orders({package: _sources(folder) for package, folder in folders.items()})
    ORDERS.write_text(f"{json.dumps(orders, indent=0)}\n", "utf-8")
    print(f"{len(found['pointers'])} pointers, {len(found['written'])} written, {len(found['named'])} named")


def _module(modules: Path, name: str) -> Path:
    return max(modules.glob(f"{name}@*"))


def _packages(modules: Path) -> Iterator[tuple[str, Path]]:
    api = _module(modules, "api")
    for each in GROUPS:
        group, _, version = each.rpartition("_")
        folder = api / group.partition(".")[0] / version
        if folder.is_dir():
            yield f"{group.partition('.')[0]}.{version}", folder
    yield "meta.v1", _module(modules, "apimachinery") / "pkg/apis/meta/v1"
    yield "apiextensions.v1", _module(modules, "apiextensions-apiserver") / "pkg/apis/apiextensions/v1"
    yield "apiregistration.v1", _module(modules, "kube-aggregator") / "pkg/apis/apiregistration/v1"


def _sources(folder: Path) -> str:
    return "\n".join(each.read_text() for each in sorted(folder.glob("types*.go")))


def _fields(body: str) -> Iterator[Field]:
    for name, kind, tag in FIELD.findall(body):
        if kind != "struct":
            yield Field(name, kind, tag)


def _add_package(found: dict[str, Any], package: str, source: str, shared: set[str]) -> None:
    version = package.rpartition(".")[2]
    aliases = {name for name, _ in ALIAS.findall(source)}
    structs = {struct: list(_fields(body)) for struct, body in STRUCT.findall(source)}
    for struct in structs:
        for each in _with_embedded(structs, struct):
            key, _, options = each.tag.partition(",")
            if not each.name or not key or key == "-":
                continue
            place, bare = f"{package}.{struct}.{key}", each.type.lstrip("*")
            is_named = bare in aliases or bare.partition(".")[2] in shared or bare.startswith("types.")
            is_scalar = bare in SCALARS or is_named
            if (each.type.startswith("*") and (is_scalar or bare.endswith("Time"))) or "omitzero" in options:
                found["pointers"].append(place)
            is_value = each.type in ("resource.Quantity", "intstr.IntOrString")  # structs, which omitempty never omits
            if "omitzero" not in options and (is_value or "omitempty" not in options):
                found["written"].append(place)
            if shown := _shown(bare, aliases, shared, version) or _shown_map(bare, aliases, structs.keys(), version):
                found["named"][place] = shown


def _orders(sources: Mapping[str, str]) -> dict[str, dict[str, list[str]]]:
    """Return the fields of structs that are not sorted, by package: several can have a struct of one name."""
    orders: dict[str, dict[str, list[str]]] = {}
    for package, source in sources.items():
        structs = {struct: list(_fields(body)) for struct, body in STRUCT.findall(source)}
        for struct in structs:
            fields = list(_keys(structs, struct))
            if fields != sorted(fields):
                orders.setdefault(struct, {})[package] = fields
    return dict(sorted(orders.items()))


def _keys(structs: Mapping[str, list[Field]], struct: str) -> Iterator[str]:
    for each in structs.get(struct, ()):
        key = each.tag.partition(",")[0]
        if each.type == "metav1.TypeMeta":
            yield from ("kind", "apiVersion")
        elif not key and not each.name:
            yield from _keys(structs, each.type)
        elif key not in ("", "-"):
            yield key


def _with_embedded(structs: dict[str, list[Field]], struct: str) -> Iterator[Field]:
    for each in structs.get(struct, ()):
        if each.name:
            yield each
        else:
            yield from _with_embedded(structs, each.type)


def _shown(kind: str, aliases: set[str], shared: set[str], version: str) -> str:
    """Return the type as decoding errors have it; "" if the document says the same."""
    prefix = "[]" if kind.startswith("[]") else ""
    base = kind.removeprefix("[]")
    if base in aliases:
        return f"{prefix}{version}.{base}"
    package, dot, name = base.partition(".")
    if package == "types":
        return f"{prefix}types.{name}"
    return f"{prefix}v1.{name}" if dot and name in shared else ""


def _shown_map(kind: str, aliases: set[str], structs: Collection[str], version: str) -> str:
    """Return a map whose keys are of a named type as decoding errors have it; "" for other types."""
    found = re.fullmatch(r"map\[(\w+)\](.+)", kind)
    if found is None or found[1] not in aliases:
        return ""
    item = f"{version}.{found[2]}" if found[2] in structs or found[2] in aliases else found[2]
    return f"map[{version}.{found[1]}]{item}"


def _internal(modules: Path) -> dict[str, list[list[str]]]:
    """Return the internal structs that messages print, and all that they refer to."""
    folder = _module(modules, "kubernetes") / "pkg/apis"
    internal: dict[str, list[Field]] = {}
    external: dict[str, list[Field]] = {}
    api = _module(modules, "api")
    for group in ("resource", "storage", "core", "batch", "apps"):  # a name of several groups is that of the last
        internal |= {
            name: list(_fields(body)) for name, body in STRUCT.findall((folder / group / "types.go").read_text())
        }
        external |= {
            name: list(_fields(body)) for name, body in STRUCT.findall((api / group / "v1/types.go").read_text())
        }
    wanted = [*PRINTED, "PodFailurePolicy", "SuccessPolicy"]
    written: dict[str, list[list[str]]] = {}
    while wanted:
        name = wanted.pop()
        if name in written or name not in internal:
            continue
        keys = {each.name: each.tag.partition(",")[0] for each in external.get(name, ()) if each.name}
        written[name] = [_internal_field(each, keys) for each in internal[name]]
        wanted += [re.sub(r"^.*[\].*]", "", each.type.replace("metav1.", "metav1:")) for each in internal[name]]
        wanted += [each.type for each in internal[name] if not each.name]
    return dict(sorted(written.items()))


def _internal_field(field: Field, keys: dict[str, str]) -> list[str]:
    name = field.tag.partition(",")[0] or field.name
    key = keys.get(field.name) or (field.name[:1].lower() + field.name[1:])
    return [name, key, field.type]


def _hashed(source: str) -> dict[str, list[list[str]]]:
    """Return the fields of `v1.PodTemplateSpec`, and of all structs that it refers to, with types as Go prints them."""
    structs = {f"v1.{name}": body for name, body in STRUCT.findall(source)}
    hashed: dict[str, list[list[str]]] = {}
    wanted = ["v1.PodTemplateSpec"]
    while wanted:
        name = wanted.pop()
        if name in hashed or name not in structs:
            continue
        hashed[name] = [_hashed_field(each) for each in _fields(structs[name])]
        wanted += [kind.removeprefix("[]").removeprefix("*") for _, _, kind in hashed[name]]
    return dict(sorted(hashed.items()))


def _hashed_field(field: Field) -> list[str]:
    kind = re.sub(r"(?<![\w.])([A-Z]\w*)", r"v1.\1", field.type.replace("metav1.", ""))
    return [field.name or kind.rpartition(".")[2], field.tag.partition(",")[0], kind]


if __name__ == "__main__":
    main()
