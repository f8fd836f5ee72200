"""One vocabulary: each word has one meaning, the upstream one. docs/glossary.md lists the words."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tools.public_names import public_packages

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "pyctrl"

# Words of the first edition, for which Kubernetes, client-go, controller-runtime or plain English have another one.
OLD_NAMES = (
    *("Alarms", "Attempts", "ConvergingWriter", "Entitled", "GivenUp", "IntakeOf", "Observed", "Placed", "Preparable"),
    *("Refused", "Remedied", "Replicable", "RightsWatch", "SourceLife", "Surroundings", "Tenant", "Vigil", "Weather"),
    *("cache_families", "controller_families", "wire_package"),
)
OLD_FILES = re.compile(
    r"(?:^|/)_?(?:alarms|answers|attempt|builtins\w*|cells|door|families|furniture|glance|intake|marks|measures|noise"
    r"|refusals|rows|shares|victims|vigil|weather)\.py$"
)
OLD_ENGLISH = (
    *("anew", "at whiles", "comes of", "heed", "heeded", "heeds", "mended", "nobody", "somebody", "thereof", "vigil"),
    *("whoever", "whomever"),
)

# Classes that share a name. Each pair does the same job on two sides of a layer.
SAME_JOB: dict[str, str] = {
    "Authenticator": "authenticates a token: in the API server with its own means, in a program for its webhook",
    "Authorizer": "decides about an access: in the API server with its own means, in a program for its webhook",
    "Decision": "the decision of an Authorizer, in the API server and in a program",
    "UserInfo": "the user of authentication.k8s.io, as a review has it and as `pyctrl whoami` prints it",
    "WatchHandler": "handles the verb watch in the API server, and events in the cache (client-go watchHandler)",
    "Lister": "lists objects: of the cache (client-go), and of a storage (k8s.io/apiserver's rest.Lister)",
    "FieldError": "a cause of an Invalid status: as the API server collects it, and as an admission webhook raises it",
}


def _tracked(*patterns: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [path for name in sorted(set(listing.stdout.splitlines())) if (path := ROOT / name).is_file()]


def _prose() -> Iterator[tuple[str, str]]:
    """Yield the text that users and contributors read: sources, examples, tools and documentation."""
    for path in _tracked("src/*.py", "examples/*.py", "tools/*.py", "docs/*.md", "README.md", "CONTRIBUTING.md"):
        if not path.is_relative_to(SRC / "kinds"):  # generated, with the text of Kubernetes' OpenAPI documents
            yield path.relative_to(ROOT).as_posix(), path.read_text()


def _classes() -> dict[str, list[str]]:
    """Return the files that define each public class name of the package."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in _tracked("src/pyctrl/*.py"):
        if path.is_relative_to(SRC / "kinds"):
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.relative_to(SRC).as_posix())
    return found


def test_old_words_are_gone() -> None:
    """No source, example, tool or page uses a name or an idiom that has been replaced."""
    words = re.compile(rf"\b(?:{'|'.join((*OLD_NAMES, *OLD_ENGLISH))})\b")
    pages = [(name, text) for name, text in _prose() if name != "docs/glossary.md"]
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in pages
        for number, line in enumerate(text.splitlines(), 1)
        if words.search(line)
    ]

    assert not found, "\n" + "\n".join(found)


def test_old_file_names_are_gone() -> None:
    """No file of the package has a name that has been replaced."""
    names = [path.relative_to(SRC).as_posix() for path in _tracked("src/pyctrl/*.py")]

    assert [name for name in names if OLD_FILES.search(name)] == []


def test_a_class_name_has_one_meaning() -> None:
    """No two classes of the package share a name, except the listed pairs that do the same job."""
    doubled = {name: files for name, files in _classes().items() if len(files) > 1 and name not in SAME_JOB}

    assert doubled == {}
    assert SAME_JOB.keys() <= {name for name, files in _classes().items() if len(files) > 1}


def test_a_public_name_has_one_meaning() -> None:
    """A name that two packages export is the same object in both."""
    meanings: dict[str, set[int]] = defaultdict(set)
    for package in public_packages():
        module = importlib.import_module(package)
        for name in module.__all__:
            meanings[name].add(id(getattr(module, name)))

    assert [name for name, objects in meanings.items() if len(objects) > 1] == []
