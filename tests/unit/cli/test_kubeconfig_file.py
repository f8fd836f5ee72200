"""Kubeconfigs that commands write: foreign files are kept, and devices are not replaced."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pyctrl.cli._kubeconfig_file import write_kubeconfig
from tests.unit.cli._command import apiserver
from tests.unit.cli.apiserver._served import ALONE
from tests.unit.cli.conftest import Run

pytestmark = pytest.mark.slow("starts a process, which takes up to a second")


def test_a_kubeconfig_of_somebody_else_is_left_alone(run: Run, tmp_path: Path) -> None:
    """A file of another program is replaced only with --force; pyctrl's own file always is."""
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("precious: yes\n")
    told = run("apiserver", *ALONE, "--write-kubeconfig", kubeconfig)
    assert (told.code, kubeconfig.read_text()) == (1, "precious: yes\n")
    assert "--force" in told.err
    for force in (["--force"], []):
        with apiserver(*ALONE, "--write-kubeconfig", kubeconfig, *force) as served:
            assert served.url in kubeconfig.read_text()


def test_a_kubeconfig_is_written_to_a_device_as_it_is() -> None:
    """Devices such as /dev/stdout are written to, not replaced. The test uses a terminal, which root cannot replace."""
    ours, theirs = os.openpty()
    try:
        device = Path(os.ttyname(theirs))
        write_kubeconfig(device, "http://127.0.0.1:1", "token", None, force=False)
        assert os.read(ours, 1000).startswith(b"# Written by pyctrl")
        assert device.is_char_device()
    finally:
        os.close(ours)
        os.close(theirs)
