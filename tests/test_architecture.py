"""The rules of CONTRIBUTING.md that no linter checks. Each exception has a reason."""

from __future__ import annotations

import ast
import gc
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "pyctrl"

FILE_LINES = 500
BODY_LINES = 40

GENERATED = "# Written by tools/generate_kinds.py"

LONG_FILES: dict[str, str] = {
    "src/pyctrl/errors.py": "the exceptions are one tree, shown in one file",
}

LONG_FUNCTIONS: dict[str, str] = {}

CLOCKS: dict[str, str] = {
    "src/pyctrl/_clock.py": "the one source of wall time",
    "src/pyctrl/testing/_loop/watched_loop.py": "measures CPU time, which virtual time does not have",
}

LOOSE_TASKS: dict[str, str] = {
    "src/pyctrl/client/_kubernetes_asyncio/responses.py": "aiohttp's `release` is not async; the ApiClient awaits it",
    "src/pyctrl/apiserver/_http/connection.py": "a connection ends with its client; `serve` awaits the others",
    "src/pyctrl/_tasks.py": "the first of several tasks to end cancels the others",
    "src/pyctrl/apiserver/_streaming/remotecommand.py": "the first of process and client to end cancels the other",
    "src/pyctrl/apiserver/_streaming/remotecommand_protocols.py": "the receiver of frames ends with its connection",
    "src/pyctrl/apiserver/_streaming/portforward.py": "the first of pod and client to end cancels the other",
    "src/pyctrl/cluster/_kubelet/container_processes.py": "the end of a container cancels the processes in it",
    "src/pyctrl/client/_transport/in_process.py": "the server's end of a connection; the client's end awaits it",
    "src/pyctrl/cluster/_cluster.py": "lives from __aenter__ to __aexit__, which a task group cannot span",
    "src/pyctrl/manager/_runnables/lifecycle.py": "starting is a task, because a stop may interrupt it",
    "src/pyctrl/manager/_runnables/runnable.py": "runnables stop in an order that a task group does not have",
}

# Modules that create servers. Other modules use `pyctrl._http_server`.
SERVER_LIBRARIES = ("aiohttp.web", "http.server", "socketserver", "wsgiref")
EXCHANGES = ("aiohttp.web_request.", "aiohttp.web_response.", "aiohttp.web_exceptions.")
SERVERS: dict[str, str] = {
    "src/pyctrl/cli/_envtest/etcd.py": "a process of its own, which starts in 20 ms because it imports no pyctrl",
    "src/pyctrl/_http_server/listener.py": "it is the one accept loop",
    "src/pyctrl/_http_server/server.py": "it is the one HTTP server for health, metrics and webhooks",
}

OWN_RANDOM: dict[str, str] = {
    "src/pyctrl/testing/_cluster/control_plane.py": "a random token for an administrator",
}

# Folders with tests that mirror their files, and the length up to which a file needs no test file.
CORE = (
    *(
        "_go",
        "_http_server",
        "_log",
        "_validation",
        "apiserver",
        "cache",
        "cel",
        "cli",
        "client",
        "cluster",
        "controller",
    ),
    *("dev", "manager", "program"),
)
CORE_LINES = 60
UNTESTED: dict[str, str] = {
    "src/pyctrl/apiserver/_resources/resource_type.py": "mostly a protocol; the types that implement it are tested",
    "src/pyctrl/apiserver/_webhooks/caller.py": "data and a protocol; test_https_caller.py and test_client.py use them",
    "src/pyctrl/controller/_managed_cluster.py": "protocols; the managers and fleets that implement them are tested",
    "src/pyctrl/controller/_statistics.py": "dataclasses without methods; tests of the controller read them",
    "src/pyctrl/program/_run_options.py": "protocols; test_program_manager.py and test_runner.py use the flags of cli",
}

# Files whose except clause passes a cancellation on in another way than by raising it.
PASSES_CANCELLATION_ON: dict[str, str] = {
    "src/pyctrl/client/_transport/in_process.py": "throws it into the coroutine that it drives",
}

# Strings that name a machine. Built from pieces, so that this file does not contain them.
FOREIGN = {
    name: re.compile(pattern)
    for name, pattern in {
        "home": r"(?<![\w.~-])/(?:home|Users)/(?!(?:dev|jane|me|user)\b)\w",
        "root": r"(?<![\w.~-])/(?:work|root|mnt)/\w",
        "temporary": r"(?<![\w.~-])/(?:tmp|var/folders)/\w",
        "beside the checkout": r"\.\./shared\b",
        "registry": r"files\.python" + r"hosted\.org|registry\." + r"npmjs",
        "index": r"(?i)\b(?:index-u" + r"rl|find-li" + r"nks)\b",
    }.items()
}
FOREIGN_TEXT: dict[str, str] = {}

UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")
# Files with a test that may be skipped.
SKIPPED: dict[str, str] = {
    "examples/09_database/test_database.py": "needs the binaries of PostgreSQL; the message says how to get them",
}
UNRUN = re.compile(r"pytest\.(?:mark\.)?(?:sk" + r"ip|skipif|xf" + r"ail|importorskip)\b")


@cache
def _tracked() -> tuple[Path, ...]:
    """Return every file of the repository that git tracks or would add."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return tuple(path for name in sorted(set(listing.stdout.splitlines())) if (path := ROOT / name).is_file())


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _is_generated(path: Path) -> bool:
    return path.suffix == ".json" or (path.is_relative_to(SRC / "kinds") and GENERATED in path.read_text())


@cache
def _sources(under: Path = ROOT) -> tuple[tuple[str, ast.Module], ...]:
    """Return every handwritten Python file in a directory, parsed."""
    return tuple(
        (_name(path), ast.parse(path.read_text()))
        for path in _tracked()
        if path.suffix == ".py" and path.is_relative_to(under) and not _is_generated(path)
    )


@pytest.fixture(scope="module", autouse=True)
def _forgotten() -> Iterator[None]:
    """Drop the syntax trees after the last test, and pause the garbage collector until then.

    A collection takes seconds with two million objects, and would block the loop of an unrelated test.
    """
    gc.disable()
    yield
    _sources.cache_clear()
    gc.enable()


def _texts() -> Iterator[tuple[str, str]]:
    for path in _tracked():
        try:
            yield _name(path), path.read_text()
        except UnicodeDecodeError:
            continue


def _matches(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in _texts()
        if not name.endswith(".json") and name not in FOREIGN_TEXT
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def _listed(offences: Iterable[str]) -> str:
    return "\n" + "\n".join(offences)


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _calls(tree: ast.AST) -> Iterator[tuple[int, str]]:
    return ((node.lineno, ast.unparse(node.func)) for node in ast.walk(tree) if isinstance(node, ast.Call))


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_files_are_short() -> None:
    """No handwritten file is longer than 500 lines."""
    long = {
        _name(path): lines
        for path in _tracked()
        if path.suffix == ".py"
        and not _is_generated(path)
        and (lines := len(path.read_text().splitlines())) > FILE_LINES
    }

    assert long.keys() <= LONG_FILES.keys(), _listed(f"{name} {lines}" for name, lines in long.items())


def test_functions_are_short() -> None:
    """No function of the package has a body of more than 40 lines, docstring excluded."""
    long = {
        f"{name}::{function.name}": lines
        for name, tree in _sources(SRC)
        for function in _functions(tree)
        if (lines := _body_lines(function)) > BODY_LINES
    }

    assert long.keys() <= LONG_FUNCTIONS.keys(), _listed(f"{name} {lines}" for name, lines in long.items())


def test_every_test_has_a_docstring() -> None:
    """Each test has a docstring: one sentence that is false when the test fails."""
    silent = [
        f"{name}:{function.lineno} {function.name}"
        for name, tree in (*_sources(ROOT / "tests"), *_sources(ROOT / "examples"))
        for function in _functions(tree)
        if Path(name).name.startswith("test_") and function.name.startswith("test_") and not ast.get_docstring(function)
    ]

    assert not silent, _listed(silent)


def test_core_files_have_a_test_file() -> None:
    """The tests of src/pyctrl/PACKAGE/_FOLDER/_FILE.py are in tests/unit/PACKAGE/FOLDER/test_FILE.py."""
    files = [
        *SRC.glob("_*.py"),
        *(path for package in CORE for path in (SRC / package).rglob("*.py")),
    ]
    untested = {
        _name(path)
        for path in files
        if path.name != "__init__.py"
        and len(path.read_text().splitlines()) > CORE_LINES
        and not _test_file(path).exists()
    }

    assert untested == UNTESTED.keys(), _listed(sorted(untested ^ UNTESTED.keys()))


def _test_file(path: Path) -> Path:
    *folders, file = path.relative_to(SRC).with_suffix("").parts
    return ROOT.joinpath("tests", "unit", *(each.strip("_") for each in folders), f"test_{file.strip('_')}.py")


def test_every_module_has_a_docstring() -> None:
    """Each module of the package begins with a docstring."""
    silent = [name for name, tree in _sources(SRC) if not ast.get_docstring(tree)]

    assert not silent, _listed(silent)


def test_files_are_named_by_nouns() -> None:
    """No file is called utils, helpers, common or base."""
    banned = {"utils", "util", "helpers", "helper", "common", "base", "misc"}

    offences = [_name(path) for path in _tracked() if path.suffix == ".py" and path.stem.strip("_") in banned]

    assert not offences, _listed(offences)


def test_time_comes_from_the_loop_and_the_clock() -> None:
    """No file reads the system clock or sleeps outside the event loop, so virtual time applies everywhere."""
    offences = [
        f"{name}:{line} {what}"
        for name, tree in _sources(SRC)
        if name not in CLOCKS
        for line, what in (*_imports(tree), *_calls(tree))
        if what == "time"
        or what.startswith("time.")
        or what.endswith(("datetime.now", "datetime.utcnow", "date.today"))
    ]

    assert not offences, _listed(offences)


def test_randomness_is_injected() -> None:
    """Jitter comes from an injected random.Random, so that a test can repeat it."""
    offences = [
        f"{name}:{line} {what}"
        for name, tree in _sources(SRC)
        for line, what in _imports(tree)
        if what == "secrets" or (what.split(".")[0] == "random" and what != "random.Random")
        if name not in OWN_RANDOM
    ]

    assert not offences, _listed(offences)


def test_tasks_have_owners() -> None:
    """Only task groups create tasks; the other modules that create one are listed, and await it."""
    offences = [
        f"{name}:{line} {what}"
        for name, tree in _sources(SRC)
        if name not in LOOSE_TASKS
        for line, what in _calls(tree)
        if what in ("asyncio.create_task", "asyncio.ensure_future") or what.endswith("loop.create_task")
    ]

    assert not offences, _listed(offences)


def test_one_module_makes_servers() -> None:
    """Only `pyctrl._http_server` accepts sockets and creates HTTP servers."""
    sources = [(name, tree) for name, tree in _sources(SRC) if name not in SERVERS]
    offences = [
        f"{name}:{line} {what}"
        for name, tree in sources
        for line, what in _imports(tree)
        if what.startswith(SERVER_LIBRARIES) and not what.startswith(EXCHANGES)
    ]
    offences += [
        f"{name}:{line} {what}"
        for name, tree in sources
        for line, what in _calls(tree)
        if what.endswith((".create_server", ".start_server", ".create_unix_server"))
    ]

    assert not offences, _listed(offences)


def test_cancellation_is_never_swallowed() -> None:
    """An except clause that catches cancellation raises it again."""
    offences = [
        f"{name}:{node.lineno}"
        for name, tree in _sources(SRC)
        if name not in PASSES_CANCELLATION_ON
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or "BaseException" in ast.unparse(node.type).replace("BaseExceptionGroup", ""))
        and not any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
    ]

    assert not offences, _listed(offences)


def test_packages_do_not_use_the_facade() -> None:
    """The package imports nothing from `pyctrl` itself, which would cause import cycles."""
    names = {path.stem if path.suffix == ".py" else path.name for path in SRC.iterdir()}
    offences = [
        f"{name}:{line} {what}"
        for name, tree in _sources(SRC)
        if name != "src/pyctrl/__init__.py"
        for line, what in _imports(tree)
        if what.startswith("pyctrl.") and what.split(".")[1] not in names
    ]

    assert not offences, _listed(offences)


@pytest.mark.parametrize("pattern", FOREIGN.values(), ids=FOREIGN.keys())
def test_nothing_names_a_machine(pattern: re.Pattern[str]) -> None:
    """No file contains a path, host or registry of a developer's machine."""
    assert not (matches := _matches(pattern)), _listed(matches)


def test_no_notes_about_later_work() -> None:
    """The code contains no notes about later work; such work is an issue."""
    assert not (matches := _matches(UNFINISHED)), _listed(matches)


def test_no_test_is_skipped() -> None:
    """No test is skipped or expected to fail."""
    tests = [
        f"{name}:{number}"
        for name, text in _texts()
        if name.startswith(("tests/", "examples/")) and name.endswith(".py") and name not in SKIPPED
        for number, line in enumerate(text.splitlines(), 1)
        if UNRUN.search(line)
    ]

    assert not tests, _listed(tests)


def test_the_architecture_page_shows_the_contract() -> None:
    """docs/architecture.md prints the import contract of pyproject.toml word for word."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    shown = re.search(r"<!-- contract -->\n```toml\n(.*?)```", page, re.DOTALL)
    contract = re.search(r"^layers = \[\n.*?^\]\n", (ROOT / "pyproject.toml").read_text(), re.DOTALL | re.MULTILINE)

    assert shown is not None
    assert contract is not None
    assert shown[1] == contract[0]


def test_every_page_is_linked() -> None:
    """docs/index.md links to each page of the documentation."""
    docs = ROOT / "docs"
    linked = set(_links(docs / "index.md"))
    lost = [_name(page) for page in docs.glob("*.md") if page.name != "index.md" and page.resolve() not in linked]

    assert not lost, _listed(lost)


def test_links_work() -> None:
    """Relative links in Markdown files point to files of the repository."""
    broken = [
        f"{_name(page)} -> {target}"
        for page in _tracked()
        if page.suffix == ".md"
        for target in _links(page)
        if not target.exists()
    ]

    assert not broken, _listed(broken)


def _links(page: Path) -> list[Path]:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
    return [(page.parent / target).resolve() for target in targets if "://" not in target]
