"""Screen with the details of one object: error, Events, YAML, owned objects, pods and reads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.highlight import highlight
from textual.screen import Screen
from textual.widgets import Footer, Static, Tab, Tabs

from pyctrl.cli._dev.layout import shortened
from pyctrl.cli._dev.screen_rows import DIM, ERROR, FAILED, HEADING, WARNING
from pyctrl.dev import Detection, ErrorReport, Frame, ObjectDetails, OwnedObject, PodDetails, ReadRow

__all__ = ["DetailsScreen", "error_tab", "events_tab", "owned_tab", "pods_tab", "reads_tab", "yaml_tab"]

REFRESH_SECONDS = 2.0  # all objects are read, to find those that it owns
MOST_NAMES = 4
TABS = ("error", "events", "yaml", "owned", "pods", "reads")
SIDES = 3  # columns beside the text: padding, a scrollbar


class DetailsScreen(Screen[None]):
    """Shows an object until escape is pressed.

    Args:
        read: returns the details as they are now; None while the screen is paused.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,backspace", "app.pop_screen", "back"),
        Binding("left,h", "previous_tab", "tabs", key_display="← →"),
        ("right,l", "next_tab"),
        *((str(number), f"tab('{tab}')") for number, tab in enumerate(TABS, 1)),
        ("j,down", "scroll(1)"),
        ("k,up", "scroll(-1)"),
        ("space,pagedown", "page(1)"),
        ("pageup", "page(-1)"),
        ("home,g", "edge(0)"),
        ("end,G", "edge(1)"),
    ]

    def __init__(self, details: ObjectDetails, read: Callable[[], Awaitable[ObjectDetails | None]]) -> None:
        super().__init__()
        self.details: ObjectDetails = details
        self._read = read

    def compose(self) -> ComposeResult:
        """Compose the title, the tabs and the text of one of them."""
        is_failed = self.details.run is not None and self.details.run.error is not None
        first = "error" if is_failed or self.details.detections else "owned" if self.details.owned else "yaml"
        yield Static(id="title")
        tabs = Tabs(*(Tab(label, id=tab) for tab, label in _labels(self.details).items()), active=first)
        tabs.can_focus = False
        yield tabs
        with VerticalScroll(id="body"):
            yield Static(id="text")
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Show the details, and read them again every two seconds."""
        self._show()
        self.set_interval(REFRESH_SECONDS, self._refresh)

    async def _refresh(self) -> None:
        found = await self._read()
        if found is not None and self.app.is_running and self in self.app.screen_stack:  # not closed meanwhile
            self.details = found
            self._show()

    def _show(self) -> None:
        tabs = self.query_one(Tabs)
        for tab, label in _labels(self.details).items():
            tabs.query_one(f"#{tab}", Tab).label = label
        self.query_one("#title", Static).update(title(self.details))
        width = self.size.width - SIDES
        content = _TABS[tabs.active](self.details, width)
        text = self.query_one("#text", Static)
        if not isinstance(text.content, Content) or not content.is_same(text.content):
            text.update(content)

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self._show()

    def on_tabs_tab_activated(self) -> None:
        """Show another tab from its beginning."""
        self._show()
        self._body.scroll_home(animate=False)

    @property
    def _body(self) -> VerticalScroll:
        return self.query_one("#body", VerticalScroll)

    def action_previous_tab(self) -> None:
        """Show the tab to the left."""
        self.query_one(Tabs).action_previous_tab()

    def action_next_tab(self) -> None:
        """Show the tab to the right."""
        self.query_one(Tabs).action_next_tab()

    def action_tab(self, tab: str) -> None:
        """Show a tab."""
        self.query_one(Tabs).active = tab

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._body.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self._body.scroll_relative(y=pages * (self._body.size.height - 1), animate=False)

    def action_edge(self, end: int) -> None:
        """Scroll to the beginning or the end."""
        (self._body.scroll_end if end else self._body.scroll_home)(animate=False)


def _labels(details: ObjectDetails) -> dict[str, str]:
    failed = FAILED.strip() if details.run is not None and details.run.error is not None else ""
    found = {"Events": details.events, "Owned": details.owned, "Pods": details.pods, "Reads": details.reads}
    events, owned, pods, reads = (f"{label} {len(rows)}".removesuffix(" 0") for label, rows in found.items())
    error = f"Error {failed}".strip()
    return {"error": error, "events": events, "yaml": "YAML", "owned": owned, "pods": pods, "reads": reads}


def title(details: ObjectDetails) -> Content:
    """Return the name of the object, its last reconcile and its conditions."""
    gone = "" if details.yaml else "  does not exist"
    lines = [Content.assemble((f"{details.kind or details.controller} {details.request}", "bold"), (gone, WARNING))]
    if details.result:
        style = ERROR if details.run is not None and details.run.is_failed else ""
        lines.append(Content.assemble((details.result, style), (f"  {details.last}", DIM)))
    for label, text in (("conditions", details.conditions), ("because", _first(details.causes))):
        if text:
            lines.append(Content.assemble((f"{label}  ", DIM), text))
    return Content("\n").join(lines)


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


# --- the tab Error ---


def error_tab(details: ObjectDetails, width: int) -> Content:
    """Return detections, and the error with its traceback, whose source lines are cut at a width."""
    lines = [line for each in details.detections for line in _detection(each)]
    run = details.run
    if run is not None and run.error is not None:
        lines += _error(run.error, width)
    elif not lines:
        lines.append(Content.styled("The last reconcile succeeded." if run else "It was not reconciled yet.", DIM))
    return Content("\n").join(lines)


def _detection(detection: Detection) -> Iterator[Content]:
    times = f"  ×{detection.times}" if detection.times > 1 else ""
    yield Content.assemble((f"! {detection.title}", f"bold {WARNING}"), (times, DIM))
    yield Content.assemble("  ", detection.message, (f" ({detection.place})" if detection.place else "", "bold"))
    yield Content.assemble(("  fix: ", DIM), detection.fix)
    yield Content("")


def _error(error: ErrorReport, width: int) -> Iterator[Content]:
    for number, line in enumerate(error.text):
        yield Content.styled(line, ERROR if not number else WARNING)
    yield Content("")
    for frame in reversed(error.frames):
        yield from _frame(frame, width)
    if error.cause is not None:
        yield Content("")
        yield Content.styled("caused by", HEADING)
        yield from _error(error.cause, width)


def _frame(frame: Frame, width: int) -> Iterator[Content]:
    where = f"{frame.file}:{frame.line}"
    if not frame.is_own:
        yield Content.styled(f"  {where} in {frame.function}", DIM)
        return
    yield Content.assemble(("▸ ", ERROR), (where, "bold"), f" in {frame.function}")
    digits = len(str(frame.line + len(frame.source)))
    for line in frame.source:
        mark, style = ("▸", "bold $text-error") if line.is_current else (" ", "")
        place = f"  {mark} {line.number:>{digits}} │ "
        yield Content.assemble((place, DIM), (shortened(line.text, width - len(place)), style))


# --- the other tabs ---


def events_tab(details: ObjectDetails, width: int) -> Content:
    """Return the Events of the object and of the objects that it owns, the latest first."""
    lines = []
    for each in details.events:
        style, mark = (f"bold {WARNING}", "! ") if each.type == "Warning" else ("bold", "  ")
        times = f"  ×{each.times}" if each.times > 1 else ""
        lines.append(Content.assemble((mark + each.reason, style), (f"  {each.object}  {each.last}{times}", DIM)))
        lines.append(Content(f"  {each.message}"))
    return Content("\n").join(lines) if lines else Content.styled("There are no Events about it.", DIM)


def yaml_tab(details: ObjectDetails, width: int) -> Content:
    """Return the object as YAML."""
    if not details.yaml:
        return Content.styled("The object does not exist.", DIM)
    return highlight(details.yaml.rstrip(), language="yaml")


def owned_tab(details: ObjectDetails, width: int) -> Content:
    """Return the tree of the objects that it owns."""
    lines = list(_tree(details.owned, ""))
    return Content("\n").join(lines) if lines else Content.styled("It owns no objects.", DIM)


_BAD = ("not Ready", "not Available", "Failed", "Pending", "deleting")


def _tree(owned: Sequence[OwnedObject], indent: str) -> Iterator[Content]:
    for number, each in enumerate(owned):
        is_last = number == len(owned) - 1
        branch = f"{indent}{'└─' if is_last else '├─'} "
        style = WARNING if any(word in each.state for word in _BAD) else DIM
        readers = f"  read by {_first(each.readers)}" if each.readers else ""
        name = f"{each.kind} ", (each.name, "bold")
        yield Content.assemble((branch, DIM), *name, "  ", (each.state, style), (readers, DIM))
        yield from _tree(each.owned, indent + ("   " if is_last else "│  "))


def pods_tab(details: ObjectDetails, width: int) -> Content:
    """Return the pods of the object: their containers, what clients ran in them, and the ends of their logs."""
    if not details.pods:
        return Content.styled("It has no pods.", DIM)
    return Content("\n\n").join(Content("\n").join(_pod(each, width)) for each in details.pods)


def _pod(pod: PodDetails, width: int) -> Iterator[Content]:
    yield Content.assemble((pod.name, "bold"), (f"  {pod.phase}", WARNING if pod.phase in _BAD else DIM))
    for row in pod.sessions:
        place = f"{row.container}  " if len(pod.containers) > 1 else ""
        room = width - len(f"  $ {place}  {row.last}")
        style = ERROR if row.is_failed else DIM
        yield Content.assemble(("  $ ", HEADING), place, shortened(row.action, room), (f"  {row.last}", DIM))
        yield Content.styled(f"    {row.result}", style)
    for container in pod.containers:
        yield Content.assemble((f"  {container.name}", HEADING), (f"  {container.state}", DIM))
        yield from (Content(f"    {shortened(line, width - 4)}") for line in container.log)


def reads_tab(details: ObjectDetails, width: int) -> Content:
    """Return what the last reconcile of the object has read, and the objects whose reconciles have read this one."""
    lines = [Content.styled("The last reconcile read, of the kinds in its reads:", HEADING)] if details.reads else []
    lines += [_read(each) for each in details.reads]
    if not details.reads:
        lines.append(Content.styled("The last reconcile read nothing of the kinds in its reads.", DIM))
    if details.readers:
        lines += [Content(""), Content.styled("It was read by the last reconcile of:", HEADING)]
        lines += [Content(f"  {reader}") for reader in details.readers]
    return Content("\n").join(lines)


def _read(read: ReadRow) -> Content:
    missing = ("  not found", WARNING) if read.is_missing else ""
    others = (f"  also read by {_first(read.others)}", DIM) if read.others else ""
    return Content.assemble("  ", (read.text, "bold"), missing, others)


_TABS = {
    "error": error_tab,
    "events": events_tab,
    "yaml": yaml_tab,
    "owned": owned_tab,
    "pods": pods_tab,
    "reads": reads_tab,
}
