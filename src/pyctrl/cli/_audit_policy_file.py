"""Audit policy files of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    from pyctrl.apiserver import AuditPolicy

__all__ = ["read_audit_policy"]


def read_audit_policy(file: Path) -> AuditPolicy:
    """Return the policy of `--audit-policy-file`.

    Raises:
        CommandFailed: the file cannot be read, or is not an audit policy; the reason is kube-apiserver's.
    """
    from pyctrl.apiserver import AuditPolicy  # here: help and completion need none of it

    try:
        return AuditPolicy.read(file.read_bytes())
    except OSError as error:
        raise CommandFailed(f"--audit-policy-file {file}: {error.strerror}") from error
    except ValueError as error:
        raise CommandFailed(f"--audit-policy-file {file}: {error}") from error
