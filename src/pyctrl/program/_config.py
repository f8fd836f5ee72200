"""The login of a command: a `Config` from its flags."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyctrl.client import Config
from pyctrl.errors import CommandFailed, NoConfiguration

if TYPE_CHECKING:
    from pyctrl.client import Impersonation
    from pyctrl.program._run_options import LoginOptions

__all__ = ["load_config"]


def load_config(login: LoginOptions) -> Config:
    """Find the login, as `pyctrl.client.Config.load` does, with the user that the options name.

    Raises:
        CommandFailed: no source of a login is available; the message lists each one and why it was skipped.
        ConfigError: a source is available and cannot be used, or a group is named without a user.
    """
    try:
        config = Config.load(kubeconfig=login.kubeconfig, context=login.context)
    except NoConfiguration as error:
        raise CommandFailed(_not_found(error)) from error
    if login.as_user is None and not login.as_groups:
        return config
    return replace(config, impersonate=_impersonation(login, config.impersonate))


def _impersonation(login: LoginOptions, configured: Impersonation | None) -> Impersonation:
    """Return the user to impersonate. As in kubectl, a flag replaces its own field of the kubeconfig only."""
    from pyctrl.client import Impersonation  # here: few commands impersonate

    if configured is None:
        return Impersonation(user=login.as_user or "", groups=login.as_groups)
    return replace(configured, user=login.as_user or configured.user, groups=login.as_groups or configured.groups)


def _not_found(error: NoConfiguration) -> str:
    tried = "".join(f"\n  - {source}: {why}" for source, why in error.attempts)
    return (
        f"no configuration of a cluster found; tried:{tried}\n"
        "Set KUBECONFIG to a kubeconfig file, or name one with --kubeconfig FILE. "
        "For a local in-memory cluster: pyctrl apiserver --write-kubeconfig FILE"
    )
