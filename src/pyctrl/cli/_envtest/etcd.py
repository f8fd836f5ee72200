"""`etcd` of `pyctrl envtest`: answers health checks. pyctrl's kube-apiserver keeps its objects itself.

It is run as a file and imports no pyctrl, so that it starts in 20 ms and needs few resources.
"""

import os
import selectors
import signal
import socket
import sys

__all__ = ["PARENT_SECONDS", "main", "watched_parent"]

VERSION = "3.6.5"
HELP = """\
etcd of pyctrl envtest: answers health checks and stores nothing. All flags of etcd are accepted.

  --listen-client-urls 'http://localhost:2379'
    List of URLs to listen on, separated by commas.
  --version
    Print the version.
"""
DEFAULT_URL = "http://localhost:2379"
CLIENT_SECONDS = 1.0  # for a client to send its request; others wait meanwhile
HEAD_LIMIT = 64 * 1024
PARENT_SECONDS = 1.0  # between two looks whether the parent is there

RESPONSES = {
    "/health": '{"health":"true","reason":""}',
    "/livez": "ok\n",
    "/readyz": "ok\n",
    "/version": f'{{"etcdserver":"{VERSION}","etcdcluster":"3.6.0","storage":"3.6.0"}}',
}


def main(arguments: list[str]) -> int:
    """Serve until a signal; return the exit code of a command line that cannot be served."""
    if any(each in ("--help", "-h", "-help") for each in arguments):
        print(HELP, end="")
        return 0
    if any(each in ("--version", "-version") for each in arguments):
        print(f"etcd Version: {VERSION} (pyctrl envtest)")
        return 0
    try:
        listeners = [_listen(url) for url in _client_urls(arguments).split(",")]
    except (ValueError, OSError) as error:
        why = os.strerror(error.errno or 0).lower() if isinstance(error, OSError) else error  # as Go writes it
        print(f"etcd: cannot listen: {why}", file=sys.stderr)
        return 1
    parent = watched_parent()
    with selectors.DefaultSelector() as selector:
        for listener in listeners:
            selector.register(listener, selectors.EVENT_READ)
        while parent in (None, os.getppid()):
            for ready, _ in selector.select(None if parent is None else PARENT_SECONDS):
                _serve(ready.fileobj)  # type: ignore[arg-type]
    return 0


def watched_parent() -> int | None:
    """Return the process that started this one for itself alone, as a test process does; this one ends after it.

    envtest makes its programs leaders of process groups, so that a signal to the tests does not reach them, and ends
    them itself. It cannot if it is killed. None for programs that may outlive their parent: those of a script, of a
    service manager, of `setsid` and of `nohup`.
    """
    parent = os.getppid()
    is_leader = os.getpgrp() == os.getpid() != os.getsid(0)
    stays = parent == 1 or not is_leader or signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    return None if stays else parent


def _client_urls(arguments: list[str]) -> str:
    """Return the value of --listen-client-urls, which has one or two dashes, as in etcd."""
    urls = DEFAULT_URL
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name.lstrip("-") == "listen-client-urls" and name.startswith("-"):
            urls = value if equals else next(iter(arguments[position + 1 :]), "")
    return urls


def _listen(url: str) -> socket.socket:
    scheme, separator, address = url.partition("://")
    host, _, port = address.rstrip("/").rpartition(":")
    if not separator or scheme != "http" or not host or not port.isdecimal():
        raise ValueError(f"expected http://HOST:PORT, got {url!r}")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, int(port)), family=family)


def _serve(listener: socket.socket) -> None:
    """Answer one request and close its connection."""
    try:
        client, _ = listener.accept()
        with client:
            client.settimeout(CLIENT_SECONDS)
            head = b""
            while b"\r\n\r\n" not in head and len(head) < HEAD_LIMIT and (data := client.recv(4096)):
                head += data
            client.sendall(_response(head))
    except OSError:  # the client has disconnected, or sent nothing
        return


def _response(head: bytes) -> bytes:
    words = head.decode("latin-1").split(" ", 2)
    body = RESPONSES.get(words[1].partition("?")[0]) if len(words) > 2 else None
    status = "404 Not Found" if body is None else "200 OK"
    encoded = (body or "404 page not found\n").encode()
    headers = f"Content-Type: text/plain\r\nContent-Length: {len(encoded)}\r\nConnection: close\r\n"
    return f"HTTP/1.1 {status}\r\n{headers}\r\n".encode() + encoded


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
