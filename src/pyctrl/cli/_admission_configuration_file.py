"""Files of `--admission-control-config-file`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    from pyctrl.apiserver import AdmissionConfiguration

__all__ = ["read_admission_configuration"]


def read_admission_configuration(file: Path) -> AdmissionConfiguration:
    """Return the configurations of admission plugins; their paths are relative to the file.

    Raises:
        CommandFailed: a file cannot be read, or its content is invalid; the reason is kube-apiserver's.
    """
    from pyctrl.apiserver import AdmissionConfiguration  # here: help and completion need none of it

    try:
        return AdmissionConfiguration.read(file.read_bytes(), lambda path: (file.parent / path).read_bytes())
    except OSError as error:
        where = error.filename or file
        raise CommandFailed(f"--admission-control-config-file: {where}: {error.strerror}") from error
    except ValueError as error:
        raise CommandFailed(f"--admission-control-config-file {file}: {error}") from error
