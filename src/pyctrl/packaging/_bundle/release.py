"""What is published at once: a version of an operator, in channels, as a successor of others."""

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
        version: semantic: ``0.1.0``.
        package: what it is called in a catalog; "" is the program's name.
        channels: what it appears in; none are those of the `Publication`.
        default_channel: for those who name none; "" is that of the `Publication`, or the first.
        replaces: the version that it is installed over.
        skips: versions that it is installed over as well, and that nobody should install any more.
        skip_range: the same by bounds: ``>=0.1.0 <0.3.0``.
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
        """The name of its ClusterServiceVersion."""
        return self.named(self.version)

    def named(self, version: str) -> str:
        """Name another version as this one is named; what is a name already stays."""
        return (
            f"{self.package}.v{version.removeprefix('v')}" if SEMVER.fullmatch(version.removeprefix("v")) else version
        )


def release(publication: Publication, wanted: Release, *, name: str) -> Release:
    """Fill in what nobody said.

    Args:
        publication: says what is the same for all releases.
        wanted: what was said of this one.
        name: of the program.

    Raises:
        CommandFailed: there is no version, or it is none; or the default channel is none of the channels.
    """
    version = wanted.version or publication.version
    if not version:
        raise CommandFailed("name the version with --version, such as 0.1.0, or in pyproject.toml: [project] version")
    if not SEMVER.fullmatch(version):
        raise CommandFailed(f"a semantic version was expected, such as 0.1.0 or 1.0.0-rc.1; got {version!r}")
    channels = tuple(dict.fromkeys(wanted.channels or publication.channels))
    default = wanted.default_channel or (publication.default_channel if not wanted.channels else "") or channels[0]
    if default not in channels:
        raise CommandFailed(f"the default channel {default!r} is none of the channels: {', '.join(channels)}")
    return replace(
        wanted,
        version=version,
        package=wanted.package or publication.package or name,
        channels=channels,
        default_channel=default,
    )


def install_modes(publication: Publication, settings: Settings) -> tuple[InstallMode, ...]:
    """Return which namespaces the operator may be told to look at."""
    if publication.install_modes:
        return publication.install_modes
    return ("OwnNamespace", "SingleNamespace", "MultiNamespace") if settings.watch_namespaces else ("AllNamespaces",)


async def read_bundled(settings: Settings, publication: Publication, version: str) -> Project:
    """Read a program as `read_project` does, the way it runs under the Operator Lifecycle Manager.

    That one makes the certificates of webhooks, and says which namespaces to look at: rights in these are set apart.

    Args:
        settings: how it is shipped.
        publication: says for which namespaces it is.
        version: of the release; without an image in the settings, that of the image, too.
    """
    name = settings.name or Target.parse(settings.target).name
    settings = replace(settings, version=version).named(name)
    is_everywhere = install_modes(publication, settings) == ("AllNamespaces",)
    watched = () if is_everywhere else (settings.namespace,)
    settings = replace(settings, webhook_certificates="cert-manager", watch_namespaces=watched)
    return await read_project(settings, with_samples=True)


def bundled(project: Project) -> Project:
    """Return a project without the namespace that stood for those to look at, while rights were derived."""
    return replace(project, settings=replace(project.settings, watch_namespaces=()))
