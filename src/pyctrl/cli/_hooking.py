"""Add webhooks to a project, and take them out: ask what nobody said, write, and say what comes next."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

from pyctrl.cli._scaffolding import Wanted, answered, show_or_remove, tell_next, write
from pyctrl.errors import CommandFailed
from pyctrl.scaffold import HOOKS, Api, Folder, Hook, Hooking, find_project, webhook_removal_of

__all__ = ["Wanted", "WantedHooks", "create_webhook", "delete_webhook"]

CONVERT = "convert"
QUESTIONS = {
    "default": "Create Defaulting Webhook",
    "validate": "Create Validation Webhook",
    CONVERT: "Create Conversion Webhook",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedHooks:
    """What is wanted, as flags have said it."""

    default: bool = False
    validate: bool = False
    convert: bool = False
    spokes: tuple[str, ...] = ()

    @property
    def hooks(self) -> Collection[Hook]:
        """What is wanted of filling in and refusing."""
        return [hook for hook in HOOKS if getattr(self, hook)]

    @property
    def what(self) -> list[str]:
        """All that is wanted."""
        return [*self.hooks, *([CONVERT] if self.convert or self.spokes else [])]

    @property
    def versions(self) -> Collection[str] | None:
        """The versions to convert, none in it: all; None: nothing is to be converted."""
        if CONVERT not in self.what:
            return None
        return [each.strip() for text in self.spokes for each in text.split(",") if each.strip()]


def create_webhook(wanted: Wanted, hooks: WantedHooks, *, force: bool, dry_run: bool) -> int:
    """Write the files of webhooks; give the exit code."""
    project = find_project(Path.cwd())
    hooking = Hooking(project=project, api=Api.checked(project, **asdict(wanted)), force=force)
    hooking.check()
    if not hooks.what:
        hooks = _asked(hooking)
    files = hooking.files(hooks.hooks, hooks.versions)
    write(Folder(project.root), files, dry_run=dry_run)
    if hooks.what:
        tell_next("say in them what your kind needs, and watch them work with", "pyctrl dev")
    if hooks.hooks and (function := hooking.own_wiring):
        print(f"note: {project.program} is wired by {function} alone; add the webhooks there", file=sys.stderr)
    return 0


def _asked(hooking: Hooking) -> WantedHooks:
    """Ask who is at the terminal. Raises CommandFailed: nobody is."""
    if not sys.stdin.isatty():
        raise CommandFailed("say what to make: --default, --validate, --convert, or several of them")
    what = [*HOOKS, *([CONVERT] if hooking.others else [])]
    wanted = {each: answered(QUESTIONS[each], None) for each in what}
    return WantedHooks(default=wanted["default"], validate=wanted["validate"], convert=wanted.get(CONVERT, False))


def delete_webhook(wanted: Wanted, hooks: WantedHooks, *, yes: bool, force: bool) -> int:
    """Remove the files of webhooks, or show them; give the exit code."""
    project = find_project(Path.cwd())
    api = Api.checked(project, **asdict(wanted))
    removal = webhook_removal_of(project, api, hooks.what or [*HOOKS, CONVERT])
    named = " ".join([wanted.flags, *(f"--{each}" for each in hooks.what)])
    return show_or_remove(project, removal, f"delete webhook {named}", yes=yes, force=force)
