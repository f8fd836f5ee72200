"""Starting a control plane, with small programs in place of etcd and Kubernetes."""

from __future__ import annotations

import json
import ssl
import sys
import urllib.request
from pathlib import Path

import pytest

from pyctrl.client import Config
from pyctrl.testing import ControlPlaneFailed, control_plane
from pyctrl.testing._cluster.control_plane import write_serving_certificate

WAITS = """
import signal
signal.pause()
"""

SERVES = """
import http.server, json, pathlib, ssl, sys

flags = dict(flag.removeprefix("--").split("=", 1) for flag in sys.argv[1:])
token = pathlib.Path(flags["token-auth-file"]).read_text().split(",")[0]

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        allowed = self.headers["Authorization"] == "Bearer " + token
        self.send_response(200 if allowed else 401)
        self.end_headers()
        self.wfile.write(json.dumps(flags).encode())

server = http.server.HTTPServer((flags["bind-address"], int(flags["secure-port"])), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(flags["tls-cert-file"], flags["tls-private-key-file"])
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""

FINDS_ITS_PORT_IN_USE = """
import pathlib, sys
tried = pathlib.Path(sys.argv[0] + ".ports")
ports = tried.read_text().split() if tried.exists() else []
tried.write_text(" ".join([*ports, *(flag.partition("=")[2] for flag in sys.argv if flag.startswith("--secure-port"))]))
if len(ports) < TIMES:
    sys.exit("failed to listen: bind: address already in use")
"""

FAILS = """
import sys
print("flag provided but not defined: -nonsense")
sys.exit(3)
"""


def _install(directory: Path, **programs: str) -> Path:
    for name, code in programs.items():
        program = directory / name.replace("_", "-")
        program.write_text(f"#!{sys.executable}\n{code}")
        program.chmod(0o700)
    return directory


def _flags_of_the_server(url: str, token: str, context: ssl.SSLContext) -> dict[str, str]:
    request = urllib.request.Request(f"{url}/flags", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, context=context) as response:
        flags: dict[str, str] = json.load(response)
    return flags


def test_control_plane_starts_and_stops(tmp_path: Path) -> None:
    """The control plane is ready in the block, its kubeconfig works, strict clients trust it, and all is removed."""
    assets = _install(tmp_path, etcd=WAITS, kube_apiserver=SERVES, kube_controller_manager=WAITS)

    with control_plane(assets) as plane:
        config = Config.from_kubeconfig(plane.kubeconfig)
        context = ssl.create_default_context(cafile=plane.ca_file)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        flags = _flags_of_the_server(plane.url, plane.token, context)

    assert config.server == plane.url
    assert plane.has_controllers
    assert "disable-admission-plugins" not in flags
    assert plane.token not in repr(plane)
    assert not plane.kubeconfig.exists()
    with pytest.raises(OSError, match="refused"):
        _flags_of_the_server(plane.url, plane.token, ssl.create_default_context())


def test_control_plane_without_controllers(tmp_path: Path) -> None:
    """Without a controller manager no default service accounts exist, so the server must not require them."""
    assets = _install(tmp_path, etcd=WAITS, kube_apiserver=SERVES)

    with control_plane(assets) as plane:
        flags = _flags_of_the_server(plane.url, plane.token, ssl.create_default_context(cafile=plane.ca_file))

    assert not plane.has_controllers
    assert flags["disable-admission-plugins"] == "ServiceAccount"


def test_flags_are_added_and_replaced(tmp_path: Path) -> None:
    """Given flags of the API server replace the defaults of the same name; other defaults stay."""
    assets, flags = _install(tmp_path, etcd=WAITS, kube_apiserver=SERVES), {"profiling": "false"}
    flags["authorization-mode"] = "Webhook,RBAC"

    with control_plane(assets, apiserver_flags=[f"--{name}={value}" for name, value in flags.items()]) as plane:
        found = _flags_of_the_server(plane.url, plane.token, ssl.create_default_context(cafile=plane.ca_file))

    assert found.items() >= (flags | {"allow-privileged": "true"}).items()


def test_missing_binary(tmp_path: Path) -> None:
    """The error about a directory without binaries names the directory and the missing binaries."""
    _install(tmp_path, etcd=WAITS)

    with (
        pytest.raises(ControlPlaneFailed, match=f"no kube-apiserver in {tmp_path}.*KUBEBUILDER_ASSETS"),
        control_plane(tmp_path),
    ):
        pass


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver"])
def test_program_that_ends(tmp_path: Path, name: str) -> None:
    """A program that exits early is an error at once, with its exit code and the end of its log."""
    assets = _install(tmp_path, **{"etcd": WAITS, "kube_apiserver": WAITS, name.replace("-", "_"): FAILS})

    with (
        pytest.raises(ControlPlaneFailed, match=rf"(?s){name} ended with code 3.*provided but not defined"),
        control_plane(assets),
    ):
        pass


def test_a_port_that_was_taken_meanwhile(tmp_path: Path) -> None:
    """If another program takes a port before the server does, all programs start again with other ports."""
    assets = _install(tmp_path, etcd=WAITS, kube_apiserver=FINDS_ITS_PORT_IN_USE.replace("TIMES", "2") + SERVES)

    with control_plane(assets) as plane:
        context = ssl.create_default_context(cafile=plane.ca_file)
        assert _flags_of_the_server(plane.url, plane.token, context)["secure-port"] == plane.url.rpartition(":")[2]
    assert len(set((tmp_path / "kube-apiserver.ports").read_text().split())) == 3


def test_ports_that_are_always_in_use(tmp_path: Path) -> None:
    """The third time that a port is in use is an error, with the end of the log."""
    assets = _install(tmp_path, etcd=WAITS, kube_apiserver=FINDS_ITS_PORT_IN_USE.replace("TIMES", "9"))

    with pytest.raises(ControlPlaneFailed, match="address already in use"), control_plane(assets):
        pass
    assert len((tmp_path / "kube-apiserver.ports").read_text().split()) == 3


def test_keys_are_private(tmp_path: Path) -> None:
    """Keys are readable by their owner only."""
    write_serving_certificate(tmp_path)

    assert (tmp_path / "serving.key").stat().st_mode & 0o077 == 0
