"""Screen of `pyctrl dev`, with textual's Pilot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import RichLog, Static

from pyctrl.cli._dev.details_screen import DetailsScreen
from pyctrl.cli._dev.log_lines import LogLines
from pyctrl.cli._dev.row_list import RowList
from pyctrl.cli._dev.screen import DevScreen
from pyctrl.dev import DevSession, ObjectDetails
from tests.unit.dev._programs import PROGRAM
from tests.unit.dev._sessions import box_session

pytestmark = [
    pytest.mark.usefixtures("imports_as_before"),
    pytest.mark.real_time,  # textual's timers
    pytest.mark.slow("textual draws, and the session looks for changes of files, in real time"),
]

FAILS = PROGRAM.replace("if box is None:", "raise OSError('no disk')\n        if box is None:")
SIZES = [(80, 24), (120, 40), (30, 20)]
PATIENCE = 45.0  # seconds, on a busy machine; less than the limit of a test, so that the screen is in the message


class Seen:
    """A screen, its session, and what is on it."""

    def __init__(self, app: DevScreen, session: DevSession, pilot: Pilot[None]) -> None:
        self.app, self.session, self.pilot = app, session, pilot

    @property
    def text(self) -> str:
        """The lines of the terminal."""
        screen = self.app.screen
        lines = screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)

    async def shows(self, *texts: str) -> None:
        """Wait until all texts are on the screen."""
        await self.until(lambda: all(each in self.text for each in texts), texts)

    async def hides(self, *texts: str) -> None:
        """Wait until none of the texts is on the screen."""
        await self.until(lambda: not any(each in self.text for each in texts), texts)

    async def press(self, *keys: str) -> None:
        """Press keys."""
        await self.pilot.press(*keys)

    async def until(self, is_met: Callable[[], bool], what: object) -> None:
        """Wait until something is so."""
        until = asyncio.get_running_loop().time() + PATIENCE
        while not is_met():
            assert asyncio.get_running_loop().time() < until, f"{what}\n{self.text}"
            await self.pilot.pause(0.05)


@asynccontextmanager
async def screen(directory: Path, text: str = PROGRAM, size: tuple[int, int] = (100, 30)) -> AsyncIterator[Seen]:
    """Show a session of a program."""
    async with box_session(directory, text) as session:
        app = DevScreen(session, ["export KUBECONFIG=~/.cache/pyctrl/boxes.kubeconfig"], LogLines())
        async with app.run_test(size=size) as pilot:
            yield Seen(app, session, pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_a_failing_object_is_first_at_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    """Errors are above controllers and objects, and nothing is wider than the terminal."""
    async with screen(tmp_path, FAILS, size) as seen:
        await seen.shows("boxes", "● running", "ERRORS", "✗ Box", "OSError: no disk", "retry")
        assert all(len(line) <= size[0] for line in seen.text.split("\n"))
        assert "kubeconfig" in seen.text.split("\n")[1]
        if size[0] > 30:
            assert seen.text.index("ERRORS") < seen.text.index("CONTROLLER") < seen.text.index("\n   BOX")


async def test_an_error_disappears_with_its_mistake(tmp_path: Path) -> None:
    """After a save without the mistake the error is gone and the header counts the reload."""
    async with screen(tmp_path, FAILS) as seen:
        await seen.shows("OSError: no disk")
        (tmp_path / "boxes.py").write_text(PROGRAM)
        await seen.shows("running, reloaded", "done (")
        await seen.hides("OSError: no disk", "✗")


async def test_a_save_that_cannot_be_loaded_is_shown_with_its_line(tmp_path: Path) -> None:
    """A save that cannot be imported is shown with place and excerpt; the previous version runs."""
    async with screen(tmp_path) as seen:
        await seen.shows("done (")
        (tmp_path / "boxes.py").write_text(PROGRAM + "colour = red\n")
        await seen.shows(
            "▲ running the previous version", "NameError: name 'red' is not defined", "| colour = red", "^^^"
        )


@pytest.mark.parametrize("size", SIZES)
async def test_enter_opens_the_details(tmp_path: Path, size: tuple[int, int]) -> None:
    """Enter shows the traceback with source lines; the arrows show Events, YAML and owned objects; escape closes."""
    async with screen(tmp_path, FAILS, size) as seen:
        await seen.shows("✗ Box")
        await seen.press("down", "enter")
        await seen.shows("Box default/sample", "failed after", "Error ✗", "OSError: no disk")
        await seen.press("G")
        await seen.shows("raise O")
        await seen.press("right")
        await seen.shows("There are no Events")
        await seen.press("3")
        await seen.shows("apiVersion:", "kind: Box")
        await seen.press("4")
        await seen.shows("It owns no objects.")
        await seen.press("left", "left", "left", "escape")
        await seen.shows("✗ Box")


async def test_details_of_a_healthy_object_show_what_it_owns(tmp_path: Path) -> None:
    """Without an error the tree of owned objects is shown first; j, k and the arrows scroll a long tab."""
    async with screen(tmp_path, size=(60, 12)) as seen:
        await seen.shows("done (")
        await seen.press("enter")
        await seen.shows("└─ ConfigMap sample")
        await seen.press("3", "j", "j", "down", "k", "space", "home", "end")
        await seen.shows("said: one")
        await seen.press("1")
        await seen.shows("The last reconcile succeeded.")


async def test_the_filter_hides_other_rows(tmp_path: Path) -> None:
    """A slash asks for a text, and only rows with it are shown until escape."""
    async with screen(tmp_path) as seen:
        await seen.shows("\n   sample")
        await seen.press("slash", *"nothing", "enter")
        await seen.shows("filter nothing")
        await seen.hides("\n   sample")
        await seen.press("escape")
        await seen.shows("\n   sample")
        await seen.hides("filter nothing")
        await seen.press("slash", *"SAMP")
        await seen.shows("\n   sample")


async def test_a_paused_screen_says_so(tmp_path: Path) -> None:
    """A paused screen does not change, says so, and shows the current state when it is resumed."""
    async with screen(tmp_path) as seen:
        await seen.shows("done (")
        await seen.press("p")
        await seen.shows("PAUSED", "the program runs")
        (tmp_path / "boxes.py").write_text(PROGRAM + "colour = red\n")
        await seen.until(lambda: bool(seen.session.problem), "a problem")
        await seen.app._refresh()
        await seen.pilot.pause()
        assert "NameError" not in seen.text
        await seen.press("p")
        await seen.shows("NameError")
        await seen.hides("PAUSED")


async def test_a_refresh_that_ends_after_the_screen_is_dropped(tmp_path: Path) -> None:
    """A refresh that is under way when the screen ends, or when details are closed, is dropped without an error."""
    is_read, is_closed = asyncio.Event(), asyncio.Event()

    class Ending(Screen[None]):
        async def on_unmount(self) -> None:
            assert self in self.app.screen_stack
            assert isinstance(self.app, DevScreen)
            await self.app._refresh()

    class EndingScreen(DevScreen):
        def get_default_screen(self) -> Screen[None]:
            return Ending(id="_default")

    async with box_session(tmp_path, PROGRAM) as session:
        app = EndingScreen(session, [], LogLines())
        async with app.run_test() as pilot:
            seen = Seen(app, session, pilot)
            await seen.shows("done (")
            await seen.press("enter")
            await seen.shows("└─ ConfigMap sample")
            details = app.screen
            assert isinstance(details, DetailsScreen)

            async def read() -> ObjectDetails:
                is_read.set()
                await is_closed.wait()
                return details.details

            details._read = read
            refresh = asyncio.create_task(details._refresh())
            await is_read.wait()
            await seen.press("escape")
            await seen.hides("└─ ConfigMap sample")
            is_closed.set()
            await refresh


async def test_help_and_log(tmp_path: Path) -> None:
    """A question mark explains the keys; l shows what the program has logged and printed."""
    async with screen(
        tmp_path, PROGRAM.replace("if box is None:", "print('a printed line')\n        if box is None:")
    ) as seen:
        await seen.press("question_mark")
        await seen.shows("freeze the screen", "hot loop")
        await seen.press("escape")
        await seen.hides("freeze the screen")
        seen.app._log_lines.write("a line of the log\n")
        await seen.press("l")
        await seen.shows("a line of the log")
        (tmp_path / "boxes.py").write_text(seen.session.target.place.file.read_text() + "\n")  # type: ignore[union-attr]
        await seen.shows("a printed line")
        await seen.press("l")
        assert not seen.app.query_one(RichLog).display


async def test_resizing_fits_the_rows_again(tmp_path: Path) -> None:
    """After a resize the rows have the columns that fit; a narrow row has its result below the name."""
    async with screen(tmp_path, size=(120, 40)) as seen:
        await seen.shows("CAUSES", "LAST RUN")
        await seen.pilot.resize_terminal(30, 20)
        await seen.hides("CAUSES")
        await seen.shows("\n   sample", "\n     done (", "CONTROLLER")


async def test_the_cursor_stays_on_its_object(tmp_path: Path) -> None:
    """The cursor stays on an object while rows appear above it; j and k move it."""
    async with screen(tmp_path) as seen:
        await seen.shows("done (")
        rows = seen.app.query_one(RowList)
        assert rows.target is not None
        before = rows.target
        (tmp_path / "boxes.py").write_text(FAILS)
        await seen.shows("✗ Box")
        assert rows.target == before
        highlighted = rows.highlighted
        await seen.press("k")
        assert rows.highlighted != highlighted
        await seen.press("j")
        assert rows.highlighted == highlighted


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
async def test_the_screen_is_quit(tmp_path: Path, key: str) -> None:
    """q and Ctrl-C end the screen, also from the details."""
    async with screen(tmp_path) as seen:
        await seen.shows("done (")
        await seen.press("enter")
        assert isinstance(seen.app.screen, DetailsScreen)
        await seen.press(key)
        await seen.pilot.pause()
        assert not seen.app.is_running
        assert seen.app.failure is None


async def test_a_light_terminal_gets_a_light_theme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The theme follows COLORFGBG, which some terminals set, and t changes it."""
    monkeypatch.setenv("COLORFGBG", "0;15")
    async with screen(tmp_path) as seen:
        assert not seen.app.current_theme.dark
        await seen.press("t")
        assert seen.app.current_theme.dark


async def test_no_color_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR the screen has no colours; marks and words carry the meaning."""
    monkeypatch.setenv("NO_COLOR", "1")
    async with screen(tmp_path, FAILS) as seen:
        await seen.shows("✗ Box", "failed after")
        header = seen.app.query_one("#header", Static)
        colours = {
            colour.get_truecolor()
            for strip in header.render_lines(header.region.reset_offset)
            for segment in strip.apply_filter(seen.app._filters[0], header.background_colors[1])
            if segment.style is not None and (colour := segment.style.color) is not None
        }
        assert all(max(each) == min(each) for each in colours)


async def test_the_event_loop_is_as_without_a_screen(tmp_path: Path) -> None:
    """The screen does not change how the program's tasks start: the loop has no task factory."""
    async with screen(tmp_path):
        assert asyncio.get_running_loop().get_task_factory() is None


async def test_an_error_of_the_screen_is_kept(tmp_path: Path) -> None:
    """An error of the screen ends it, and is reported by the caller; the session runs on."""
    async with box_session(tmp_path) as session:
        app = DevScreen(session, [], LogLines())

        def fail() -> None:
            raise ValueError("cannot draw")

        with pytest.raises(ValueError, match="cannot draw"):
            async with app.run_test() as pilot:
                app.action_pause = fail  # type: ignore[method-assign]
                await pilot.press("p")
        assert str(app.failure) == "cannot draw"
        assert session.manager is not None
