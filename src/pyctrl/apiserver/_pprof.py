"""The pages below `/debug/pprof/`: an index, and the tasks of the event loop in place of goroutines.

The paths and the status codes are those of Go's `net/http/pprof` in kube-apiserver. Of its profiles only `goroutine`
has a counterpart here; the others do not exist.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final

from pyctrl.apiserver._errors import Response

__all__ = ["PPROF", "pprof_response"]

PPROF: Final = "/debug/pprof"
_NO_SNIFF = ("X-Content-Type-Options", "nosniff")
_TEXT = ("Content-Type", "text/plain; charset=utf-8")
_HTML = ("Content-Type", "text/html; charset=utf-8")
_MOVED = f'<a href="{PPROF}/">Found</a>.\n\n'
_GOROUTINE, _SYMBOL = "goroutine", "symbol"


def pprof_response(path: str) -> Response:
    """Return the page of a path at or below `/debug/pprof`."""
    if path == PPROF:
        return Response(status=302, headers=(_HTML, ("Location", f"{PPROF}/")), body=_MOVED.encode())
    name = path.removeprefix(f"{PPROF}/")
    if not name:
        return Response(status=200, headers=(_HTML, _NO_SNIFF), body=_index().encode())
    if name == _GOROUTINE:
        return Response(status=200, headers=(_TEXT, _NO_SNIFF), body=_tasks().encode())
    if name == _SYMBOL:
        return Response(status=200, headers=(_TEXT, _NO_SNIFF), body=b"num_symbols: 0\n")
    return Response(status=404, headers=(_TEXT, _NO_SNIFF, ("X-Go-Pprof", "1")), body=b"Unknown profile\n")


def _index() -> str:
    rows = ((len(asyncio.all_tasks()), _GOROUTINE), (0, _SYMBOL))
    lines = "".join(f"<tr><td>{count}</td><td><a href='{name}?debug=1'>{name}</a></td></tr>\n" for count, name in rows)
    return (
        f"<html>\n<head>\n<title>{PPROF}/</title>\n</head>\n<body>\n{PPROF}/\n<br>\n"
        f"<p>Types of profiles available:</p>\n<table>\n"
        f"<thead><td>Count</td><td>Profile</td></thead>\n{lines}</table>\n</body>\n</html>\n"
    )


def _tasks() -> str:
    """Return the tasks of the event loop, counted by the coroutine that they run."""
    found = Counter(_coroutine_of(each) for each in asyncio.all_tasks())
    lines = (f"{count} @ {name}\n" for name, count in sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))
    return f"goroutine profile: total {found.total()}\n{''.join(lines)}"


def _coroutine_of(task: asyncio.Task[object]) -> str:
    coroutine = task.get_coro()
    return str(getattr(coroutine, "__qualname__", coroutine))
