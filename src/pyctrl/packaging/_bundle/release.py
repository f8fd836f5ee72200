"""A release of an operator: its version, channels and predecessors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyctrl.errors import CommandFailed
from pyctrl.packaging._bundle.publication import InstallMode, Publication
from pyctrl.packaging._project import Project
from pyctrl.packaging._project_reader import read_project
from pyctrl.packaging._settings import Settings
from pyctrl.program import Target

__all__ = ["SEMVER", "Release", "bundled", "install_modes", "read_bundled", "release"]

#: semver.org, as strictly as the Operator Lifecycle Manager takes it.
SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*))*)?"
    r"(\+[\da-zA-Z-]+(\.[\da-zA-Z-]+)*)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A version of an operator.

    Attributes:
        version: the semantic version: ``0.1.0``.
        package: the name in a catalog; "" is the program's name.
        channels: the channels that contain it; empty means those of the `Publication`.
        default_channel: the channel of users who name none; "" is that of the `Publication`, or the first.
        replaces: the version that it updates.
        skips: other versions that it updates, and that are no longer to be installed.
        skip_range: the same as a range: ``>=0.1.0 <0.3.0``.
    """

    version: str
    package: str = ""
    channels: Sequence[str] = ()
    default_channel: str = ""
    replaces: str = ""
    skips: Sequence[str] = ()
    skip_range: str = ""

    @property
    def name(self) -> str:
        """The name of the ClusterServiceVersion."""
        return self.named(self.version)

    def named(self, version: str) -> str:
        """Return the ClusterServiceVersion name of another version; a name is returned unchanged."""
        return (
            f"{self.package}.v{version.removeprefix('v')}" if SEMVER.fullmatch(version.removeprefix("v")) else version
        )


def release(publication: Publication, wanted: Release, *, name: str) -> Release:
    """Return a release with unset values filled in.

    Args:
        publication: the metadata of all releases.
        wanted: the given values of this release.
        name: the name of the program.

    Raises:
        CommandFailed: the version is missing or not semantic, or the default channel is not one of the channels.
    """
    version = wanted.version or publication.version
    if not version:
        raise CommandFailed("no version given: set it with --version 0.1.0, or in pyproject.toml: [project] version")
    if not SEMVER.fullmatch(version):
        raise CommandFailed(f"expected a semantic version, such as 0.1.0 or 1.0.0-rc.1; got {version!r}")
    channels = tuple(dict.fromkeys(wanted.channels or publication.channels))
    default = wanted.default_channel or (publication.default_channel if not wanted.channels else "") or channels[0]
    if default not in channels:
        raise CommandFailed(f"the default channel {default!r} is not one of the channels: {', '.join(channels)}")
    return replace(
        wanted,
        version=version,
        package=wanted.package or publication.package or name,
        channels=channels,
        default_channel=default,
    )


def install_modes(publication: Publication, settings: Settings) -> tuple[InstallMode, ...]:
    """Return the install modes that the operator supports."""
    if publication.install_modes:
        return publication.install_modes
    return ("OwnNamespace", "SingleNamespace", "MultiNamespace") if settings.watch_namespaces else ("AllNamespaces",)


async def read_bundled(settings: Settings, publication: Publication, version: str) -> Project:
    """Read a program like `read_project`, as it runs under the Operator Lifecycle Manager.

    OLM issues the webhook certificates and sets the watched namespaces; permissions for these are kept separate.

    Args:
        settings: how it is packaged.
        publication: its metadata, with the install modes.
        version: the version of the release, and of the image if the settings have none.
    """
    name = settings.name or Target.parse(settings.target).name
    settings = replace(settings, version=version).named(name)
    is_everywhere = install_modes(publication, settings) == ("AllNamespaces",)
    watched = () if is_everywhere else (settings.namespace,)
    settings = replace(settings, webhook_certificates="cert-manager", watch_namespaces=watched)
    return await read_project(settings, with_samples=True)


def bundled(project: Project) -> Project:
    """Return a project without the watched namespace, which was a placeholder to derive permissions."""
    return replace(project, settings=replace(project.settings, watch_namespaces=()))
