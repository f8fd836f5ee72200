"""kube-apiserver's flags for its aggregator."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli._envtest.front_proxy import FRONT_PROXY_FLAGS, authentication_info, proxy_client
from pyctrl.cli._envtest.kube_apiserver_flags import FLAGS, parse_flags
from pyctrl.errors import CommandFailed


def test_the_flags_are_those_of_kube_apiserver() -> None:
    """Each of them exists."""
    assert set(FRONT_PROXY_FLAGS) <= FLAGS.keys()


def test_without_flags_nothing_is_published() -> None:
    """Extension API servers then authenticate no users, as behind a kube-apiserver without them."""
    flags = parse_flags([])
    info = authentication_info(flags)
    assert (info.client_ca, info.request_header, proxy_client(flags)) == (b"", None, None)


def test_files_and_headers_are_published(tmp_path: Path) -> None:
    """The authorities, names and headers are those of the flags."""
    for name in ("ca", "proxy-ca", "crt", "key"):
        (tmp_path / name).write_text(name)
    flags = parse_flags(
        [
            f"--client-ca-file={tmp_path}/ca",
            f"--requestheader-client-ca-file={tmp_path}/proxy-ca",
            "--requestheader-allowed-names=aggregator,other",
            "--requestheader-username-headers=X-User",
            "--requestheader-group-headers=X-Group",
            "--requestheader-extra-headers-prefix=X-Extra-",
            f"--proxy-client-cert-file={tmp_path}/crt",
            f"--proxy-client-key-file={tmp_path}/key",
        ]
    )
    info, client = authentication_info(flags), proxy_client(flags)
    assert info.client_ca == b"ca"
    assert info.request_header is not None
    assert info.request_header.client_ca == b"proxy-ca"
    assert info.request_header.allowed_names == ("aggregator", "other")
    assert info.request_header.username_headers == ("X-User",)
    assert info.request_header.group_headers == ("X-Group",)
    assert info.request_header.extra_header_prefixes == ("X-Extra-",)
    assert info.request_header.uid_headers == ()
    assert client is not None
    assert (client.certificate, client.key) == (b"crt", b"key")


def test_a_certificate_needs_its_key(tmp_path: Path) -> None:
    """A missing flag or file is named."""
    with pytest.raises(CommandFailed, match="--proxy-client-cert-file needs --proxy-client-key-file"):
        proxy_client(parse_flags(["--proxy-client-cert-file=a"]))
    with pytest.raises(CommandFailed, match=f"--client-ca-file {tmp_path}/nosuch: No such file or directory"):
        authentication_info(parse_flags([f"--client-ca-file={tmp_path}/nosuch"]))
