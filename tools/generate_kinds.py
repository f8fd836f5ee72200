"""Write `pyctrl.kinds` from the OpenAPI schemas in `pyctrl._schemas`, with Kubernetes' descriptions as docstrings.

python tools/generate_kinds.py            write the files that differ
python tools/generate_kinds.py --check    write nothing; print the differences and fail if there are any
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import _kinds

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "pyctrl" / "kinds"
BY_HAND = {"__init__.py", "_builtin.py", "_descriptions.py", "_scheme.py"}  # hand-written files directly in TARGET

_NOTE = "# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file."
# Modules that are split into packages, so that a program imports less: each file has the kinds named here and the
# classes they need, unless an earlier file has them. The last file has the rest.
_FILES = {
    "core.v1": {
        "_references": ("LocalObjectReference", "ObjectReference", "SecretReference", "TypedLocalObjectReference"),
        "_plain": (
            *("ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "ResourceQuota", "Secret", "Service"),
            "ServiceAccount",
        ),
        "_pods": ("PersistentVolumeClaim", "Pod", "PodTemplateSpec"),
        "_nodes": (),
    }
}
#: Fields whose values are never shown.
_HIDDEN = {("", "v1", "Secret"): ("data", "string_data")}
_INDENT = " " * 4
_WIDTH = 110  # of a docstring's text
_API_NAMES = ("Condition", "IntOrString", "ListMeta", "MicroTime", "ObjectMeta", "OwnerReference", "Quantity", "Time")


def main() -> int:
    """Write or compare the files, depending on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare; fail when the files are stale")
    check = parser.parse_args().check
    written = {path: _formatted(path, text) for path, text in _files().items()}
    present = {path.relative_to(TARGET).as_posix() for path in TARGET.rglob("*.py")} - BY_HAND
    stale = 0
    for path in sorted(present | written.keys()):
        old = (TARGET / path).read_text("utf-8") if path in present else ""
        new = written.get(path)
        if old == new and path in present:
            continue
        stale += 1
        if check:
            sys.stdout.writelines(_difference(path, old, new or ""))
        else:
            _write(TARGET / path, new)
    if stale and check:
        print(f"{stale} files of pyctrl.kinds are stale; run: python tools/generate_kinds.py", file=sys.stderr)
    return int(bool(stale and check))


def _difference(path: str, old: str, new: str) -> list[str]:
    return list(difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"checked in/{path}", f"new/{path}"))


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _formatted(path: str, text: str) -> str:
    """Format the files with ruff and the repository's configuration."""
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET / path), "-"]
    return subprocess.run(ruff, input=text, text=True, capture_output=True, check=True, cwd=ROOT).stdout


def _files() -> dict[str, str]:
    classes = _kinds.classes()
    files = {"_table.py": _table(list(classes.values()))}
    for module, group in groupby(sorted(classes.values(), key=lambda c: (c.module, c.name)), key=lambda c: c.module):
        name, version = module.split(".")
        if module in _FILES:
            files |= {f"{name}/{version}/{file}": text for file, text in _package(module, list(group), classes).items()}
        else:
            files[f"{name}/{version}.py"] = _module(module, list(group), classes)
        files[f"{name}/__init__.py"] = f'{_NOTE}\n"""The kinds of the API group {name}, a module for each version."""\n'
    return files


def _package(module: str, group: list[_kinds.Class], classes: dict[str, _kinds.Class]) -> dict[str, str]:
    """Return the files of a package: its `__init__`, and private modules with the classes."""
    left = {c.reference: c for c in group}
    files = {}
    for file, roots in _FILES[module].items():
        found: dict[str, _kinds.Class] = {}
        waiting = [c.reference for c in left.values() if c.name in roots or not roots]
        while waiting:
            if (reference := waiting.pop()) in left:
                found[reference] = left.pop(reference)
                waiting.extend(_kinds.needed_by(found[reference]))
        files[file] = list(found.values())
    homes = {c.reference: f"{module}.{file}" for file, some in files.items() for c in some}
    return {"__init__.py": _package_init(module, files)} | {
        f"{file}.py": _module(module, some, classes, homes) for file, some in files.items()
    }


def _package_init(module: str, files: dict[str, list[_kinds.Class]]) -> str:
    names = {file: sorted(c.name for c in some) for file, some in files.items()}
    return "\n".join(
        [
            _NOTE,
            f'"""The kinds of {module.replace(".", "/")} and their parts, imported lazily."""',
            "",
            "from typing import TYPE_CHECKING",
            "",
            "from pyctrl._lazy_imports import lazy_names",
            "",
            "if TYPE_CHECKING:",
            *(f"    from pyctrl.kinds.{module}.{file} import {_listed(names[file])}" for file in sorted(names)),
            "",
            f"__all__ = [{_quoted(sorted(name for some in names.values() for name in some))}]",
            "",
            "_FILES = {",
            *(f'**dict.fromkeys(({_quoted(some)},), "{file}"),' for file, some in names.items()),
            "}",
            "",
            "if not TYPE_CHECKING:  # otherwise type checkers would accept any name",
            "    __getattr__, __dir__ = lazy_names(__name__, _FILES)",
            "",
        ]
    )


def _module(
    module: str, group: list[_kinds.Class], classes: dict[str, _kinds.Class], homes: dict[str, str] | None = None
) -> str:
    body = "\n\n\n".join(_class(c) for c in _kinds.in_order(group))
    return "\n".join(
        [
            _NOTE,
            f'"""{"Some" if homes else "The"} kinds of {module.replace(".", "/")} and their parts."""',
            "",
            *_imports(module, group, classes, homes or {}),
            "",
            f"__all__ = [{_quoted(sorted(c.name for c in group))}]",
            "",
            *([f'__name__ = "pyctrl.kinds.{module}"  # the module that the classes report'] if homes else []),
            "",
            body,
            "",
        ]
    )


def _imports(
    module: str, group: list[_kinds.Class], classes: dict[str, _kinds.Class], homes: dict[str, str]
) -> Iterator[str]:
    code = (line for c in group for line in (_header(c), *(_field(field, c) for field in c.fields)))
    words = set(re.findall(r"\w+", "\n".join(code)))
    if "Any" in words:
        yield from ("from typing import Any", "")
    if "Field" in words:
        yield from ("from pydantic import Field", "")
    if api := sorted(words & set(_API_NAMES) - {c.name for c in group}):
        yield f"from pyctrl.api import {', '.join(api)}"
    yield f"from pyctrl.kinds._builtin import {', '.join(sorted(words & {'Part', 'Kind'}))}"
    here = homes.get(group[0].reference, module)
    needed = {(homes.get(r, classes[r].module), classes[r].name) for c in group for r in c.needs if r in classes}
    for other, names in groupby(sorted(needed), key=lambda pair: pair[0]):
        if other != here:
            yield f"from pyctrl.kinds.{other} import {', '.join(name for _, name in names)}"


def _class(cls: _kinds.Class) -> str:
    lines = [_header(cls), _literal(cls.description), ""]
    for field in cls.fields:
        lines.append(f"    {_field(field, cls)}")
        if field.description:
            lines.append(_literal(field.description))
    return "\n".join(lines)


def _header(cls: _kinds.Class) -> str:
    return f"class {cls.name}({', '.join(_bases(cls))}):"


def _literal(text: str) -> str:
    """Return the source of a docstring in a class: lines are wrapped, but not examples, which are indented."""
    lines = [part for line in text.expandtabs(4).splitlines() for part in _wrapped(line.rstrip())]
    body = "\n".join(f"{_INDENT}{line}" if line else "" for line in lines).strip().replace("\\", "\\\\")
    if len(lines) > 1:
        return f'{_INDENT}"""{body}\n{_INDENT}"""'
    return f'{_INDENT}"""{body[:-1]}\\""""' if body.endswith('"') else f'{_INDENT}"""{body}"""'


def _wrapped(line: str) -> list[str]:
    item = re.match(r" *- ", line)
    if len(line) <= _WIDTH or (line.startswith(" ") and not item):
        return [line]
    hanging = " " * len(item[0]) if item else ""
    return textwrap.wrap(line, _WIDTH, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


def _bases(cls: _kinds.Class) -> list[str]:
    if cls.gvk is None:
        return ["Part"]
    group, version, kind = cls.gvk
    keywords = ["Kind", f'group="{group}"', f'version="{version}"']
    if kind != cls.name:
        keywords.append(f'kind="{kind}"')
    if served := cls.served:
        keywords.append(f'plural="{served.plural}"')
        if served.singular != kind.lower():
            keywords.append(f'singular="{served.singular}"')
        if not served.namespaced:
            keywords.append('scope="Cluster"')
        several = {name: getattr(served, name) for name in ("short_names", "categories", "subresources")}
        keywords += [f"{name}=({_quoted(values)},)" for name, values in several.items() if values]
    if cls.gvk in _HIDDEN:
        keywords.append("hide_input_in_errors=True")
    return keywords


def _quoted(values: Iterable[str]) -> str:
    return ", ".join(f'"{value}"' for value in values)


def _field(field: _kinds.Field, cls: _kinds.Class) -> str:
    type_ = re.sub(rf"\b{cls.name}\b", f'"{cls.name}"', field.type)
    if '"' in type_:
        type_ = f'"{type_.replace(chr(34), "")}"'
    alias = f'validation_alias="{field.alias}", serialization_alias="{field.alias}"' if field.alias else ""
    if not alias and not field.factory:
        return f"{field.name}: {type_} = {field.default}"
    default = f"default_factory={field.default}" if field.factory else f"default={field.default}"
    shown = "repr=False" if cls.gvk is not None and field.name in _HIDDEN.get(cls.gvk, ()) else ""
    return f"{field.name}: {type_} = Field({', '.join(filter(None, (default, alias, shown)))})"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names, key=str.lower))  # as ruff sorts


def _table(classes: list[_kinds.Class]) -> str:
    rows = [
        f'    ("{c.gvk[0]}", "{c.gvk[1]}", "{c.gvk[2]}"): ("{c.module}", '
        f'"{c.served.plural if c.served else ""}", {c.served.namespaced if c.served else True}),'
        for c in sorted((c for c in classes if c.gvk), key=lambda c: c.gvk or ())
    ]
    return "\n".join(
        [
            _NOTE,
            '"""The built-in kinds: (group, version, kind) → (module, plural, namespaced), as in BuiltinKind."""',
            "",
            "KINDS: dict[tuple[str, str, str], tuple[str, str, bool]] = {",
            *rows,
            "}",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
