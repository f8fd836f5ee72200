"""Completion scripts of the shells, without the second names of flags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from pyctrl.cli._flag_names import HIDDEN_NAMES

if TYPE_CHECKING:
    from cyclopts import App

__all__ = ["completion_script"]

# cyclopts' script for zsh only defines a function, so it works only in a file of that function's name.
ZSH = """
if [[ "${funcstack[1]}" == _pyctrl ]]; then  # a file of $fpath, read at the first completion
  _cyclopts_pyctrl "$@"
else
  compdef _cyclopts_pyctrl pyctrl
fi
"""


def completion_script(app: App, shell: Literal["bash", "zsh", "fish"]) -> str:
    """Return the completion script of an application for a shell."""
    names = "|".join(name.removeprefix("--") for name in HIDDEN_NAMES)
    script = app.generate_completion(shell=shell)
    if shell == "bash":
        return re.sub(rf' "--(?:{names})"', "", script)  # in lists of words
    offered = rf"^complete .* -l (?:{names}) .*\n" if shell == "fish" else rf"^ *'\*?--(?:{names})\[.*\n"
    return re.sub(offered, "", script, flags=re.MULTILINE) + (ZSH if shell == "zsh" else "")
