"""The flag `--pod-script`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli._pod_script import absolute_pod_script, load_pod_script
from pyctrl.cluster import Script, host_script
from pyctrl.errors import CommandFailed
from pyctrl.kinds.core.v1 import Container, Pod


def test_a_function_of_a_file_or_module(tmp_path: Path) -> None:
    """The file need not be a package; without the flag there is no script."""
    (tmp_path / "scripts_of_a_test.py").write_text(
        "from pyctrl.cluster import Script\ndef script(pod, container): return Script(exit_code=7)\n"
    )
    script = load_pod_script(f"{tmp_path}/scripts_of_a_test.py:script")
    assert script is not None
    assert script(Pod(), Container(name="a")) == Script(exit_code=7)
    assert load_pod_script("pyctrl.cluster:host_script") is host_script
    assert load_pod_script(None) is None


def test_a_script_for_a_process_in_another_directory() -> None:
    """The function of a module is named by the file of the module, which leads to the same function."""
    text = absolute_pod_script("pyctrl.cluster:host_script")
    assert Path(text.rpartition(":")[0]).is_absolute()
    assert load_pod_script(text) is host_script
    assert absolute_pod_script(None) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("script", "expected MODULE:FUNCTION or FILE.py:FUNCTION"),
        (":script", "expected MODULE:FUNCTION"),
        ("pyctrl.cluster:", "expected MODULE:FUNCTION"),
        ("pyctrl.cluster:none", "has no function 'none'"),
        ("none.py:script", "none.py"),
    ],
)
def test_what_is_no_function_is_refused(text: str, message: str) -> None:
    """The message says what was expected."""
    with pytest.raises(CommandFailed, match=message):
        load_pod_script(text)
