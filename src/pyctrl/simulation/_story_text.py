"""A story as text, for terminals and for the message of a failed test."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyctrl.simulation._report import Story

__all__ = ["PROGRAM", "replay_command", "replay_mark", "story_text"]

PROGRAM = "PROGRAM"  # in place of a program whose name is not known
DIFF_LINES = 60
WIDTH = 100  # columns of the guess


def replay_mark(story: Story) -> str:
    """Return the line that makes a test replay the story."""
    return f'@pytest.mark.replay("{story.schedule}")'


def replay_command(story: Story, program: str = "", options: str = "") -> str:
    """Return the command that replays the story. Arguments as of `story_text`."""
    return " ".join(filter(None, ("pyctrl simulate", program or PROGRAM, options, f'--replay "{story.schedule}"')))


def story_text(story: Story, program: str = "", options: str = "") -> str:
    """Return a story as text: its title, what happened, the difference, the guess, and how to replay it.

    Args:
        story: The story.
        program: The program on a command line; "" if it is not known.
        options: The options of the command that the run needs, such as ``--replicas 2``.
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
    parts.append(f"Replay it with\n  {replay_mark(story)}\n  {replay_command(story, program, options)}")
    return "\n\n".join(parts)


def _indented(diff: str) -> str:
    lines = diff.splitlines()
    more = [f"… {len(lines) - DIFF_LINES} more lines"] if len(lines) > DIFF_LINES else []
    return "\n".join(f"  {line}" for line in (*lines[:DIFF_LINES], *more))
