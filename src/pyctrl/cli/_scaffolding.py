"""Scaffolding of projects, kinds and webhooks: questions on the terminal, files, and next steps."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote

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
_SOURCE = re.compile(r"\d+(\.\w+)+|[a-z][a-z+]*://?[^\s\"\\]+")  # a version, or a URL that needs no quoting in TOML


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedKind:
    """A kind, as the flags name it."""

    group: str
    version: str
    kind: str
    plural: str = ""
    namespaced: bool = True
    image: str = ""

    @property
    def flags(self) -> str:
        """The flags that name it."""
        group = f"--group {self.group} " if self.group else ""
        return f"{group}--version {self.version} --kind {self.kind}"


def create_project(project: ScaffoldProject, *, shown: Path, source: str, dry_run: bool) -> int:
    """Write the files of a new project; return the exit code.

    Args:
        project: the project.
        shown: its directory, for messages.
        source: where pyctrl is installed from; see `initial_files`.
        dry_run: print a patch instead.

    Raises:
        CommandFailed: the directory has the pyproject.toml of another project, or the source is invalid.
    """
    if source and not _SOURCE.fullmatch(source):
        raise CommandFailed(
            f"--pyctrl-from {source}: expected a version such as 0.1.0, or a URL such as "
            "git+https://HOST/REPOSITORY@COMMIT"
        )
    if project.root.exists() and not project.root.is_dir():
        raise CommandFailed(f"{shown} is a file; expected a directory")
    folder, files = Folder(project.root), initial_files(project, source=source)
    if folder.text(PYPROJECT) is not None:
        found = find_project(project.root)
        if found != project:
            raise CommandFailed(
                f"{shown / PYPROJECT} exists, of the project {found.name} with the domain {found.domain}; nothing "
                "changed. Edit that file to change the project"
            )
        del files[PYPROJECT]  # the project owns it from now on, for example to add dependencies
    write(folder, folder.missing(files, force=False), dry_run=dry_run, shown=shown)
    enter = f"cd {quote(str(shown))} && " if shown != Path() else ""
    print_next_steps("define a resource with", f"{enter}pyctrl create api --version v1alpha1 --kind NAME")
    return 0


def create_api(wanted: NamedKind, *, resource: bool | None, controller: bool | None, force: bool, dry_run: bool) -> int:
    """Write the files of a kind; return the exit code."""
    project = find_project(Path.cwd())
    api = Api.checked(project, **asdict(wanted))
    if looks_built_in(wanted.group):
        _print_files(
            f"note: Kubernetes has a built-in group {wanted.group!r}; yours is {api.group}. Write its full name in "
            f"apiVersion: {api.group}/{api.version}"
        )
    if wanted.image:
        if False in (resource, controller):
            raise CommandFailed("--image needs types and controller; leave out --no-resource and --no-controller")
        resource = controller = True
    resource = ask_missing("Create Resource", resource)
    controller = ask_missing("Create Controller", controller)
    folder = Folder(project.root)
    files = _files_of(project, api, folder, resource=resource, controller=controller)
    write(folder, folder.missing(files, force=force), dry_run=dry_run)
    if files:
        print_next_steps("edit the types and reconcile(), and try them with", "pyctrl dev")
    return 0


def delete_api(wanted: NamedKind, *, yes: bool, force: bool) -> int:
    """Remove the files of a kind, or list them; return the exit code."""
    project = find_project(Path.cwd())
    removal = removal_of(project, Api.checked(project, **asdict(wanted)))
    return show_or_remove(project, removal, f"delete api {wanted.flags}", yes=yes, force=force)


def show_or_remove(project: ScaffoldProject, removal: Removal, command: str, *, yes: bool, force: bool) -> int:
    """Remove files, or list them and the command that removes them; return the exit code."""
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
    """Return the files to write. Raises CommandFailed if types are missing, or the layout has a single file."""
    if project.layout == "single-file":
        if not (resource and controller):
            raise CommandFailed(f"{project.program} has types and controller in one file; edit that")
        return controller_files(project, api)
    types = api_files(project, api)
    if controller and not resource and any(folder.text(path) is None for path in types):
        raise CommandFailed(
            f"the controller of {api.kind} needs its types, {list(types)[-1]}: create them with --resource, or those "
            "of an external kind with pyctrl crd import"
        )
    return (types if resource else {}) | (controller_files(project, api) if controller else {})


def ask_missing(question: str, answer: bool | None) -> bool:
    """Return the value of the flag, or the answer on the terminal; without both, True."""
    if answer is not None or not sys.stdin.isatty():
        return answer is not False
    while True:
        print(f"{question} [y/n]", file=sys.stderr)
        line = sys.stdin.readline()
        if not line:
            raise CommandFailed("no answer; nothing changed")
        if (word := line.strip().lower()) in ("y", "yes", "n", "no"):
            return word[0] == "y"


def write(folder: Folder, files: Mapping[str, str], *, dry_run: bool, shown: Path = Path()) -> None:
    """Write files, or print a patch; report each file written."""
    if dry_run:
        sys.stdout.writelines(folder.differences(files))
        return
    folder.write(files)
    for path in files:
        print(f"wrote {shown / path}")
    if not files:
        print("nothing changed")


def print_next_steps(step: str, command: str) -> None:
    """Print the next step."""
    _print_files(f"Next: {step}:\n$ {command}")


def _print_files(text: str) -> None:
    sys.stdout.flush()  # keeps stdout before stderr, also in a file
    print(text, file=sys.stderr)


CONVERT = "convert"
QUESTIONS = {
    "default": "Create Defaulting Webhook",
    "validate": "Create Validation Webhook",
    CONVERT: "Create Conversion Webhook",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedWebhooks:
    """The webhooks that flags request."""

    default: bool = False
    validate: bool = False
    convert: bool = False
    spokes: tuple[str, ...] = ()

    @property
    def hooks(self) -> Collection[Hook]:
        """The requested admission webhooks."""
        return [hook for hook in HOOKS if getattr(self, hook)]

    @property
    def names(self) -> list[str]:
        """All requested webhooks."""
        return [*self.hooks, *([CONVERT] if self.convert or self.spokes else [])]

    @property
    def versions(self) -> Collection[str] | None:
        """The versions to convert; empty: all; None: no conversion."""
        if CONVERT not in self.names:
            return None
        return [each.strip() for text in self.spokes for each in text.split(",") if each.strip()]


def create_webhook(wanted: NamedKind, hooks: RequestedWebhooks, *, force: bool, dry_run: bool) -> int:
    """Write the files of webhooks; return the exit code."""
    project = find_project(Path.cwd())
    hooking = WebhookScaffolder(project=project, api=Api.checked(project, **asdict(wanted)), force=force)
    hooking.check()
    if not hooks.names:
        hooks = _ask_webhooks(hooking)
    files = hooking.files(hooks.hooks, hooks.versions)
    write(Folder(project.root), files, dry_run=dry_run)
    if hooks.names:
        print_next_steps("edit the webhooks, and try them with", "pyctrl dev")
    if hooks.hooks and (function := hooking.own_wiring):
        print(f"note: {project.program} is set up by {function} only; add the webhooks there", file=sys.stderr)
    return 0


def _ask_webhooks(hooking: WebhookScaffolder) -> RequestedWebhooks:
    """Ask on the terminal which webhooks to create. Raises CommandFailed without a terminal."""
    if not sys.stdin.isatty():
        raise CommandFailed("select the webhooks: --default, --validate, --convert, or several of them")
    names = [*HOOKS, *([CONVERT] if hooking.others else [])]
    wanted = {each: ask_missing(QUESTIONS[each], None) for each in names}
    return RequestedWebhooks(default=wanted["default"], validate=wanted["validate"], convert=wanted.get(CONVERT, False))


def delete_webhook(wanted: NamedKind, hooks: RequestedWebhooks, *, yes: bool, force: bool) -> int:
    """Remove the files of webhooks, or list them; return the exit code."""
    project = find_project(Path.cwd())
    api = Api.checked(project, **asdict(wanted))
    removal = webhook_removal_of(project, api, hooks.names or [*HOOKS, CONVERT])
    named = " ".join([wanted.flags, *(f"--{each}" for each in hooks.names)])
    return show_or_remove(project, removal, f"delete webhook {named}", yes=yes, force=force)
