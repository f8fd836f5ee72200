"""Begin projects and add to them: ask what nobody said, write, and say what comes next."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pyctrl.errors import CommandFailed
from pyctrl.scaffold import (
    HOOKS,
    Api,
    Folder,
    Hook,
    Removal,
    ScaffoldProject,
    WebhookScaffolder,
    api_files,
    controller_files,
    find_project,
    initial_files,
    looks_built_in,
    removal_of,
    webhook_removal_of,
)

__all__ = [
    "NamedKind",
    "RequestedWebhooks",
    "ask_missing",
    "create_api",
    "create_project",
    "create_webhook",
    "delete_api",
    "delete_webhook",
    "print_next_steps",
    "show_or_remove",
    "write",
]


PYPROJECT = "pyproject.toml"
_SOURCE = re.compile(r"\d+(\.\w+)+|[a-z][a-z+]*://?[^\s\"\\]+")  # a version, or a URL that TOML takes as it is


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedKind:
    """A kind, as it was named."""

    group: str
    version: str
    kind: str
    plural: str = ""
    namespaced: bool = True
    image: str = ""

    @property
    def flags(self) -> str:
        """How it is named on a command line."""
        group = f"--group {self.group} " if self.group else ""
        return f"{group}--version {self.version} --kind {self.kind}"


def create_project(project: ScaffoldProject, *, shown: Path, source: str, dry_run: bool) -> int:
    """Write the files of a new project; give the exit code.

    Args:
        project: what it is.
        shown: its directory, for messages.
        source: what pyctrl is installed from, as `initial_files` takes it.
        dry_run: print a patch instead.

    Raises:
        CommandFailed: the directory has a pyproject.toml of something else, or the source is none.
    """
    if source and not _SOURCE.fullmatch(source):
        raise CommandFailed(
            f"--pyctrl-from {source}: a version such as 0.1.0 was expected, or a URL such as "
            "git+https://HOST/REPOSITORY@COMMIT"
        )
    if project.root.exists() and not project.root.is_dir():
        raise CommandFailed(f"{shown} is a file; a directory was expected")
    folder, files = Folder(project.root), initial_files(project, source=source)
    if folder.text(PYPROJECT) is not None:
        found = find_project(project.root)
        if found != project:
            raise CommandFailed(
                f"{shown / PYPROJECT} is there, of the project {found.name} with the domain {found.domain}; nothing "
                "was changed: what a project is, is edited there"
            )
        del files[PYPROJECT]  # it is the project's own from now on: dependencies are added there
    write(folder, folder.missing(files, force=False), dry_run=dry_run, shown=shown)
    enter = f"cd {shown} && " if shown != Path() else ""
    print_next_steps("define a resource with", f"{enter}pyctrl create api --version v1alpha1 --kind NAME")
    return 0


def create_api(wanted: NamedKind, *, resource: bool | None, controller: bool | None, force: bool, dry_run: bool) -> int:
    """Write the files of a kind; give the exit code."""
    project = find_project(Path.cwd())
    api = Api.checked(project, **asdict(wanted))
    if looks_built_in(wanted.group):
        _print_files(
            f"note: Kubernetes has a group {wanted.group!r} of its own; this one is {api.group}, and both are written "
            f"with their whole name: {api.group}/{api.version}"
        )
    if wanted.image:
        if False in (resource, controller):
            raise CommandFailed("--image is about types and controller: leave out --no-resource and --no-controller")
        resource = controller = True
    resource = ask_missing("Create Resource", resource)
    controller = ask_missing("Create Controller", controller)
    folder = Folder(project.root)
    files = _files_of(project, api, folder, resource=resource, controller=controller)
    write(folder, folder.missing(files, force=force), dry_run=dry_run)
    if files:
        print_next_steps("say what users write and what becomes of it, and watch it work with", "pyctrl dev")
    return 0


def delete_api(wanted: NamedKind, *, yes: bool, force: bool) -> int:
    """Remove the files of a kind, or show them; give the exit code."""
    project = find_project(Path.cwd())
    removal = removal_of(project, Api.checked(project, **asdict(wanted)))
    return show_or_remove(project, removal, f"delete api {wanted.flags}", yes=yes, force=force)


def show_or_remove(project: ScaffoldProject, removal: Removal, command: str, *, yes: bool, force: bool) -> int:
    """Remove files, or show them and the command that removes them; give the exit code."""
    if not yes:
        for path in removal.files:
            print(f"would remove {path}{' (edited)' if path in removal.edited else ''}")
        print_next_steps("remove them with", f"pyctrl {command} --yes{' --force' if force else ''}")
        return 0
    if not force:
        removal.check()
    Folder(project.root).remove(removal.files)
    for path in removal.files:
        print(f"removed {path}")
    return 0


def _files_of(
    project: ScaffoldProject, api: Api, folder: Folder, *, resource: bool, controller: bool
) -> Mapping[str, str]:
    """Return what has to be there. Raises CommandFailed: types are missing, or the layout has no room."""
    if project.layout == "single-file":
        if not (resource and controller):
            raise CommandFailed(f"{project.program} has types and controller; write what you want of them there")
        return controller_files(project, api)
    types = api_files(project, api)
    if controller and not resource and any(folder.text(path) is None for path in types):
        raise CommandFailed(
            f"the controller of {api.kind} needs its types, {list(types)[-1]}: create them with --resource, or those "
            "of somebody else's kind with pyctrl crd import"
        )
    return (types if resource else {}) | (controller_files(project, api) if controller else {})


def ask_missing(question: str, said: bool | None) -> bool:
    """Return what a flag says, or who is at the terminal, or yes."""
    if said is not None or not sys.stdin.isatty():
        return said is not False
    while True:
        print(f"{question} [y/n]", file=sys.stderr)
        line = sys.stdin.readline()
        if not line:
            raise CommandFailed("there was no answer; nothing was changed")
        if (word := line.strip().lower()) in ("y", "yes", "n", "no"):
            return word[0] == "y"


def write(folder: Folder, files: Mapping[str, str], *, dry_run: bool, shown: Path = Path()) -> None:
    """Write files, or print a patch; say what was written."""
    if dry_run:
        sys.stdout.writelines(folder.differences(files))
        return
    folder.write(files)
    for path in files:
        print(f"wrote {shown / path}")
    if not files:
        print("nothing changed")


def print_next_steps(what: str, command: str) -> None:
    """Say what comes next."""
    _print_files(f"Next: {what}:\n$ {command}")


def _print_files(text: str) -> None:
    sys.stdout.flush()  # what was done comes before what comes next, in a file, too
    print(text, file=sys.stderr)


CONVERT = "convert"
QUESTIONS = {
    "default": "Create Defaulting Webhook",
    "validate": "Create Validation Webhook",
    CONVERT: "Create Conversion Webhook",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedWebhooks:
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


def create_webhook(wanted: NamedKind, hooks: RequestedWebhooks, *, force: bool, dry_run: bool) -> int:
    """Write the files of webhooks; give the exit code."""
    project = find_project(Path.cwd())
    hooking = WebhookScaffolder(project=project, api=Api.checked(project, **asdict(wanted)), force=force)
    hooking.check()
    if not hooks.what:
        hooks = _ask_webhooks(hooking)
    files = hooking.files(hooks.hooks, hooks.versions)
    write(Folder(project.root), files, dry_run=dry_run)
    if hooks.what:
        print_next_steps("say in them what your kind needs, and watch them work with", "pyctrl dev")
    if hooks.hooks and (function := hooking.own_wiring):
        print(f"note: {project.program} is wired by {function} alone; add the webhooks there", file=sys.stderr)
    return 0


def _ask_webhooks(hooking: WebhookScaffolder) -> RequestedWebhooks:
    """Ask who is at the terminal. Raises CommandFailed: nobody is."""
    if not sys.stdin.isatty():
        raise CommandFailed("say what to make: --default, --validate, --convert, or several of them")
    what = [*HOOKS, *([CONVERT] if hooking.others else [])]
    wanted = {each: ask_missing(QUESTIONS[each], None) for each in what}
    return RequestedWebhooks(default=wanted["default"], validate=wanted["validate"], convert=wanted.get(CONVERT, False))


def delete_webhook(wanted: NamedKind, hooks: RequestedWebhooks, *, yes: bool, force: bool) -> int:
    """Remove the files of webhooks, or show them; give the exit code."""
    project = find_project(Path.cwd())
    api = Api.checked(project, **asdict(wanted))
    removal = webhook_removal_of(project, api, hooks.what or [*HOOKS, CONVERT])
    named = " ".join([wanted.flags, *(f"--{each}" for each in hooks.what)])
    return show_or_remove(project, removal, f"delete webhook {named}", yes=yes, force=force)
