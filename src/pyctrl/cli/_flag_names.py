"""Names of flags: second names that are accepted, renamed flags, and suggestions for misspelt ones."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["HIDDEN_NAMES", "unknown_option"]

#: Second names of flags, which are accepted but not shown: those of Go operators and kubebuilder, and earlier ones.
HIDDEN_NAMES = frozenset(
    {
        *("--zap-log-level", "--zap-encoder", "--metrics-cert-path", "--webhook-cert-path"),
        *("--defaulting", "--programmatic-validation", "--conversion"),
        *("--account", "--audit-log-path", "--kubeconfig-out", "--load", "--out", "--watch-namespaces"),
    }
)

#: Flags that other flags have replaced, where they would otherwise have a second meaning.
RENAMED = {
    "-n": "--watch-namespace",
    "--chart-dir": "--output-dir",
    "--cluster": "--from-cluster",
    "--config-dir": "--output-dir",
    "--leader-elect": "--leader-election-id",
    "--namespace": "--watch-namespace",
    "--print": "--output",
}
CLOSE = 0.65  # of difflib: below it, --rbac is similar to --traceback
INSTALL = "Unknown option: --install. To write all manifests to one file: pyctrl build-installer --output-file FILE"


def unknown_option(option: str, known: Iterable[str]) -> str:
    """Return the message for an unknown flag of a command, with the new name of a flag or a similar one.

    Args:
        option: the flag as it was typed, possibly with its value.
        known: the flags of the command.
    """
    import difflib  # here: needed for errors only

    name = option.partition("=")[0]
    known = [*known, "--help", "--traceback"]
    if name == "--install" and "--output-dir" in known:
        return INSTALL
    if RENAMED.get(name) in known:
        return f"Unknown option: {option}. It is called {RENAMED[name]}"
    words = {each.lstrip("-"): each for each in known if each not in HIDDEN_NAMES}
    near = difflib.get_close_matches(name.lstrip("-"), words, n=1, cutoff=CLOSE)
    return f"Unknown option: {option}" + (f". Did you mean {words[near[0]]}?" if near else "")
