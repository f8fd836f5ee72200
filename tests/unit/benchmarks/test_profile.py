from __future__ import annotations

import marshal
from pathlib import Path

import pytest
from _limits import NEEDED, PARTS, lines
from _profile import called, overview, place_of, put, read, summed, table
from peers._profiler import EMPTY, Profiler

STORE = ("/home/me/pyctrl/src/pyctrl/cache/_store.py", 10, "put")
LEN = ("~", 0, "<built-in method builtins.len>")
SCAN = ("~", 0, "<method 'decode_lines' of 'msgspec.json.Decoder' objects>")
NOTHING = ("/home/me/benchmarks/peers/_profiler.py", 60, "nothing")
CALLING = ("/home/me/benchmarks/peers/_profiler.py", 55, "call_nothing")


def test_a_function_in_c_counts_as_its_caller_unless_it_has_a_library() -> None:
    """The time of `len` counts for its caller; the time of msgspec counts for msgspec, whatever calls it."""
    by_store = (1, 1, 1.0, 1.0)
    profile = summed(
        {
            STORE: (1, 1, 2.0, 8.0, {}),
            LEN: (1, 1, 1.0, 1.0, {STORE: by_store}),
            SCAN: (1, 1, 5.0, 5.0, {STORE: by_store}),
        }
    )
    assert profile.places == {"msgspec": 0.625, "pyctrl.cache": 0.375}
    assert list(profile.functions) == ["Decoder.decode_lines", "pyctrl.cache._store.put", "len"]


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("/home/me/pyctrl/src/pyctrl/_log.py", "pyctrl._log"),
        ("/home/me/pyctrl/venv/lib/python3.11/site-packages/yarl/_url.py", "aiohttp"),
        ("/home/me/pyctrl/venv/lib/python3.11/site-packages/pydantic_core/core_schema.py", "pydantic"),
        ("/home/me/pyctrl/benchmarks/peers/pyctrl/peer.py", "the benchmark"),
        ("/usr/lib/python3.11/asyncio/streams.py", "asyncio"),
        ("<frozen importlib._bootstrap>", "imports"),
        ("/usr/lib/python3.11/shutil.py", "other libraries"),
        ("<string>", None),
    ],
)
def test_a_file_belongs_to_a_room_or_a_library(file: str, place: str | None) -> None:
    """A file is attributed to its package or library wherever the repository is."""
    assert place_of((file, 1, "function")) == place


def test_what_the_profiler_adds_to_each_call_is_subtracted() -> None:
    """Half of the profiler's overhead per call is subtracted from the function and half from its caller."""
    profile = summed(
        {
            CALLING: (1, 1, EMPTY * 0.25, EMPTY * 0.75, {}),
            NOTHING: (EMPTY, EMPTY, EMPTY * 0.5, EMPTY * 0.5, {CALLING: (EMPTY, EMPTY, EMPTY * 0.5, EMPTY * 0.5)}),
            STORE: (1, 1, 25.0 + 1.5, 0.0, {}),  # calls four times, and is called once
            SCAN: (4, 4, 75.0 + 2.0, 0.0, {STORE: (4, 4, 77.0, 77.0)}),
        }
    )
    assert profile.seconds == 100
    assert profile.places == {"msgspec": 0.75, "pyctrl.cache": 0.25}


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (STORE, "pyctrl.cache._store.put"),
        (LEN, "len"),
        (SCAN, "Decoder.decode_lines"),
        (("/usr/lib/python3.11/json/decoder.py", 3, "decode"), "json.decoder.decode"),
        (("/venv/lib/python3.11/site-packages/aiohttp/streams.py", 3, "read"), "aiohttp.streams.read"),
        (("/home/me/pyctrl/benchmarks/peers/pyctrl/peer.py", 3, "follow"), "peers.pyctrl.peer.follow"),
        (("/home/me/pyctrl/examples/podset/podset.py", 3, "scale"), "examples.podset.podset.scale"),
        (("<frozen importlib._bootstrap>", 3, "_find_spec"), "importlib._bootstrap._find_spec"),
        (("<string>", 3, "__init__"), "string.__init__"),
        (("~", 0, "<built-in method __new__ of type object at 0x7f27d9a5ea00>"), "__new__ of type object"),
    ],
)
def test_functions_have_names_that_people_know(function: tuple[str, int, str], name: str) -> None:
    """Function names contain neither directories nor the interpreter's wrapping."""
    assert called(function) == name


def test_a_profile_is_of_the_command_that_was_asked_for(tmp_path: Path) -> None:
    """A profile covers only the requested repetition of a command."""
    profiler = Profiler(f"follow follow 2 {tmp_path / 'found'}")
    for work in (sum, sorted, min):
        profiler.before("follow")
        work([3, 1, 2])
        profiler.after("follow")
    functions = read([tmp_path / "found"]).functions
    assert "sorted" in functions
    assert not {"sum", "min"} & set(functions)


def test_shares_are_of_the_runs_that_nobody_disturbed(tmp_path: Path) -> None:
    """Shares exclude a run that another process disturbed."""
    paths: list[Path] = []
    for own in (1.0, 98.0, 1.0):
        paths.append(tmp_path / f"run-{len(paths)}")
        paths[-1].write_bytes(marshal.dumps({STORE: (1, 1, own, own, {}), SCAN: (1, 1, 1.0, 1.0, {})}))
    found = read(paths)
    assert (found.seconds, found.places) == (2.0, {"pyctrl.cache": 0.5, "msgspec": 0.5})


def test_waiting_is_no_work() -> None:
    """The time spent waiting for events does not count as CPU time."""
    poll = ("~", 0, "<method 'poll' of 'select.epoll' objects>")
    assert summed({STORE: (1, 1, 2.0, 2.0, {}), poll: (9, 9, 60.0, 60.0, {})}).places == {"pyctrl.cache": 1.0}


def test_tables_are_put_between_their_marks_again_and_again() -> None:
    """Inserting tables again replaces the text between their marks and keeps the text around them."""
    text = "before\n<!-- profile sync -->\nold\n<!-- end -->\nits sentence\n<!-- limits -->\n<!-- end -->\n"
    once = put(text, {"profile sync": "new", "limits": "| a |"})
    assert once == text.replace("old\n", "\nnew\n\n").replace("limits -->\n", "limits -->\n\n| a |\n\n")
    assert put(once, {"profile sync": "new", "limits": "| a |"}) == once
    with pytest.raises(KeyError, match="profile reads"):
        put(text, {"profile reads": "new"})


def test_a_table_has_places_and_functions_side_by_side() -> None:
    """The table lists packages and functions side by side in percent, largest first; another table has all lines."""
    profile = summed({STORE: (1, 1, 3.0, 3.0, {}), SCAN: (1, 1, 1.0, 1.0, {})})
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table(profile).splitlines()[2:]]
    assert rows == [
        ["pyctrl.cache", "75", "pyctrl.cache._store.put", "75"],
        ["msgspec", "25", "Decoder.decode_lines", "25"],
    ]
    assert "| pyctrl.cache  |   75 |     75 |" in overview({"sync": profile, "events": profile})


def test_a_limit_is_the_sum_of_its_parts() -> None:
    """The limit of a line is the sum of its parts, each as often as the line needs the part."""
    shown = lines(dict.fromkeys(PARTS, 2.0))
    assert len(shown.splitlines()) == 2 + len(NEEDED)
    assert "| reads                | 1 decode                              |   2.00 |" in shown
    assert "| loop                 | 2 request + 7 chunk + 7 scan          |   32.0 |" in shown
