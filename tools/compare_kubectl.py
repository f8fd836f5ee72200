"""Run kubectl commands against a real cluster and against `pyctrl apiserver`, and print where the results differ.

    python tools/compare_kubectl.py ASSETS                          # all scripts of tools/kubectl; some minutes
    python tools/compare_kubectl.py ASSETS create.sh --kubectl FILE

ASSETS is a directory with etcd, kube-apiserver, kube-controller-manager and kubectl, as for `KUBEBUILDER_ASSETS`. Each
script runs in a namespace of its own. Its blocks, separated by empty lines, are compared by exit status and by what
they print; uids, times, versions, ports and generated names are replaced first. The exit status is 1 if a block
differs.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from pyctrl.testing import control_plane
from tools._server_pair import embedded_server

SCRIPTS = Path(__file__).parent / "kubectl"
SECONDS = 180.0  # of a block; kubectl takes half a second for a command, and a block has up to 200
ADDRESS = "198.51.100.1"  # kube-apiserver publishes no loopback address
FLAGS = ("--endpoint-reconciler-type=lease", f"--advertise-address={ADDRESS}")
SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]"
#: What differs between two runs, and what replaces it, in this order.
VOLATILE = (
    (r"^[IW]\d{4} .*reflector\.go.*\n", ""),  # kubectl logs a watch that its own timeout ends
    (r"^([IWE])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", r"\1 "),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)", "TIME"),
    (r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [-+]\d{4}", "TIME"),
    (r"https?://127\.0\.0\.1:\d+", "SERVER"),
    (r"127\.0\.0\.1:\d+", "SERVER"),
    (r'("?resourceVersion"?: )"\d+"', r'\1"VERSION"'),
    (r"(Resource Version: +)\d+", r"\1VERSION"),
    (rf"\b{SUFFIX}{{8,10}}-{SUFFIX}{{5}}\b", "HASH-SUFFIX"),
    (rf"(pod-template-hash[=:] *\"?|-){SUFFIX}{{8,10}}\b", r"\1HASH"),
    (rf"-{SUFFIX}{{5}}\b", "-SUFFIX"),
    (r"\.[0-9a-f]{16}\b", ".EVENT"),
    (r"\b10\.0\.0\.\d+", "10.0.0.N"),
    (r"\b3[0-2]\d{3}\b", "NODEPORT"),
    (r"(\b\d+d)?(\d+h)?(\d+m)?(\b|(?<=\dm))\d+(\.\d+)?s\b", "AGE"),
    (r"(Active +)\d+m$", r"\1AGE"),
    (r" \(x\d+ over AGE\)", ""),  # controllers send some events again, by time
    (r"^.*\(combined from similar events\).*\n", ""),  # after ten of them, in a time that depends on the machine
    (r"LS0tLS1CRUdJTi[\w+/=]+", "PEM"),
    (r"<invalid>|\b\d+m\d+s", "AGE"),
    (r"/tmp/\S+", "FILE"),
    (r"-{4,}\n", "----\n"),
    (r" {2,}|\t+", "  "),
    (r" +$", ""),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a block printed, and its exit status."""

    code: int
    output: str
    errors: str

    @property
    def lines(self) -> list[str]:
        """The outcome as text without what differs from run to run."""
        text = f"{self.output}\n# errors:\n{self.errors}"
        for pattern, replacement in VOLATILE:
            text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
        return [*text.splitlines(), f"# exit status {self.code}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scripts; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assets", type=Path)
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help="scripts of tools/kubectl; by default all")
    parser.add_argument("--kubectl", type=Path, help="by default that of ASSETS")
    parser.add_argument(
        "--against", type=Path, nargs=2, metavar=("REAL", "OURS"), help="kubeconfigs of running servers"
    )
    parser.add_argument("--show", action="store_true", help="print the blocks that do not differ, too")
    options = parser.parse_intermixed_args(arguments)
    kubectl = (options.kubectl or options.assets / "kubectl").resolve()
    scripts = [SCRIPTS / name for name in options.scripts] or sorted(SCRIPTS.glob("*.sh"))
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="compare-kubectl-")))
        configs = options.against or (
            stack.enter_context(control_plane(options.assets, apiserver_flags=FLAGS)).kubeconfig,
            stack.enter_context(embedded_server(home, "--no-kubelet", "--enable-admission-plugins", "ServiceAccount")),
        )
        total = [_compare(script, configs, kubectl, home, show=options.show) for script in scripts]
    print(f"{sum(each for each, _ in total)} of {sum(count for _, count in total)} blocks differ")
    return int(any(each for each, _ in total))


def _compare(script: Path, configs: Sequence[Path], kubectl: Path, home: Path, *, show: bool) -> tuple[int, int]:
    """Run a script against both clusters; return the numbers of blocks that differ, and of all."""
    blocks = [block for block in re.split(r"\n{2,}", script.read_text().strip()) if not _is_comment(block)]
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(_run, script, blocks, config, kubectl, home) for config in configs]
        real, ours = (run.result() for run in runs)
    different = 0
    for block, expected, found in zip(blocks, real, ours, strict=True):
        changes = list(unified_diff(expected.lines, found.lines, "real", "pyctrl", lineterm="", n=1))
        if changes or show:
            print(f"== {script.name}: {block}")
            print("\n".join(f"  {line}" for line in changes[2:] or expected.lines))
        different += bool(changes)
    print(f"{script.name}: {different} of {len(blocks)} blocks differ", flush=True)
    return different, len(blocks)


def _is_comment(block: str) -> bool:
    return all(line.startswith("#") for line in block.splitlines())


def _run(script: Path, blocks: Sequence[str], config: Path, kubectl: Path, home: Path) -> list[Outcome]:
    """Run the blocks one after another in a new namespace and directory."""
    namespace = script.stem
    place = home / config.stem / namespace
    shutil.copytree(SCRIPTS / "files", place / "files")
    (place / "bin").mkdir()
    (place / "bin" / "kubectl").symlink_to(kubectl)
    (place / "config").write_bytes(config.read_bytes())
    environment = {
        **os.environ,
        "KUBECONFIG": str(place / "config"),
        "HOME": str(place),
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "KUBECTL_COMMAND_HEADERS": "false",
    }

    def call(block: str) -> Outcome:
        command = ["bash", "-c", block]
        try:
            ran = subprocess.run(
                command, cwd=place, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return Outcome(-1, "", f"not finished after {SECONDS:.0f} s")
        return Outcome(ran.returncode, ran.stdout, ran.stderr)

    prepared = call(
        f"kubectl create namespace {namespace} && kubectl config set-context --current --namespace {namespace}; "
        "until kubectl get serviceaccount/default configmap/kube-root-ca.crt; do sleep 0.2; done"
    )
    if prepared.code:
        raise RuntimeError(f"namespace {namespace} of {config}: {prepared.errors}")
    return [call(block) for block in blocks]


if __name__ == "__main__":
    sys.exit(main())
