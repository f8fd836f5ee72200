"""A story as text, for terminals and for the message of a failed test."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyctrl.simulation._report import Story

__all__ = ["COMMAND", "SCHEDULE", "replay_command", "replay_mark", "story_text"]

SCHEDULE = "{schedule}"  # in a command, in place of the schedule
COMMAND = f"pyctrl simulate PROGRAM --replay {SCHEDULE}"  # of a program whose name is not known
DIFF_LINES = 60
WIDTH = 100  # columns of the guess


def replay_mark(story: Story) -> str:
    """Return the line that makes a test replay the story."""
    return f'@pytest.mark.replay("{story.schedule}")'


def replay_command(story: Story, command: str = COMMAND) -> str:
    """Return the command that replays the story.

    Args:
        story: The story.
        command: The command, with ``{schedule}`` in place of the schedule.
    """
    return command.replace(SCHEDULE, f'"{story.schedule}"')


def story_text(story: Story, command: str = COMMAND) -> str:
    """Return a story as text: its title, what happened, the difference, the guess, and how to replay it.

    Args:
        story: The story.
        command: The command that replays it, with ``{schedule}`` in place of the schedule.
    """
    parts = [story.title]
    if story.events:
        parts.append("\n".join(("What happened:", *story.events)))
    if len(story.problems) > 1:
        parts.append("\n".join(("Problems:", *(f"  {each.message}" for each in story.problems))))
    if story.diff:
        parts.append(f"Without the faults (-) and with them (+):\n{_indented(story.diff)}")
    if story.guess:
        parts.append(fill(f"Probable cause: {story.guess}.", WIDTH, break_long_words=False, break_on_hyphens=False))
    if story.schedule.faults or story.schedule.shuffle:
        parts.append(f"Replay it with\n  {replay_mark(story)}\n  {replay_command(story, command)}")
    else:
        parts.append("It happens without any fault.")
    return "\n\n".join(parts)


def _indented(diff: str) -> str:
    lines = diff.splitlines()
    more = [f"… {len(lines) - DIFF_LINES} more lines"] if len(lines) > DIFF_LINES else []
    return "\n".join(f"  {line}" for line in (*lines[:DIFF_LINES], *more))
