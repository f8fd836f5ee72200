"""Headers with a user are trusted from the aggregator only."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

import pytest

from pyctrl.apiserver import CertificateAuthority, DelegatingRequestAuthenticator, Peer, RequestHeaderConfig, User
from pyctrl.apiserver._authn import FRONT_PROXY
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._user import user_of_certificate

PROXY, CLIENTS, OTHER = (CertificateAuthority.new(name) for name in ("front proxy", "clients", "other"))

HEADERS = {
    "x-remote-user": "jane",
    "x-remote-uid": "7",
    "x-remote-group": "a\nb",
    "x-remote-extra-acme.com%2fproject": "x\ny",
}
JANE = User(name="jane", uid="7", groups=("a", "b", "system:authenticated"), extra={"acme.com/project": ("x", "y")})


def peer_of(authority: CertificateAuthority, name: str) -> Peer:
    """Return the client with a certificate that TLS has verified."""
    certificate = ssl.PEM_cert_to_DER_cert(authority.client(name, ["staff"]).certificate.decode())
    subject = {"subject": ((("commonName", name),), (("organizationName", "staff"),))}
    return Peer("10.0.0.1", user_of_certificate(subject), certificate)


@pytest.fixture
def authenticator() -> DelegatingRequestAuthenticator:
    """An authenticator of the usual two authorities."""
    made = DelegatingRequestAuthenticator()
    made.request_header = RequestHeaderConfig(client_ca=PROXY.certificate, allowed_names=("front-proxy-client",))
    made.client_ca = CLIENTS.certificate
    return made


def test_the_aggregator_forwards_a_user(authenticator: DelegatingRequestAuthenticator) -> None:
    """Headers of a client with the proxy's certificate name the user, with uid, groups and extra values."""
    assert authenticator.authenticate_request(HEADERS, peer_of(PROXY, "front-proxy-client")) == JANE
    assert authenticator.is_repeated("x-remote-group")
    assert authenticator.is_repeated("x-remote-extra-a")
    assert not authenticator.is_repeated("x-remote-user")


def test_headers_of_other_clients_are_ignored(authenticator: DelegatingRequestAuthenticator) -> None:
    """A client certificate authenticates its own user, even if it has the name of the proxy and sends headers."""
    for name in ("front-proxy-client", "bob"):
        found = authenticator.authenticate_request(HEADERS, peer_of(CLIENTS, name))
        assert found == User(name=name, groups=("staff", "system:authenticated"))
    assert authenticator.authenticate_request(HEADERS, Peer("10.0.0.1")) is None
    assert authenticator.authenticate_request(HEADERS, None) is None


@pytest.mark.parametrize(
    ("peer", "headers"),
    [
        pytest.param(peer_of(PROXY, "other-name"), HEADERS, id="a name that is not allowed"),
        pytest.param(peer_of(PROXY, "front-proxy-client"), {}, id="no user"),
        pytest.param(peer_of(OTHER, "front-proxy-client"), HEADERS, id="another authority"),
    ],
)
def test_a_certificate_that_authenticates_nothing_is_refused(
    authenticator: DelegatingRequestAuthenticator, peer: Peer, headers: Mapping[str, str]
) -> None:
    """A request with a useless certificate gets 401, unless it has a token, which is then tried."""
    with pytest.raises(StatusError) as refused:
        authenticator.authenticate_request(headers, peer)
    assert refused.value.code == 401
    assert authenticator.authenticate_request({**headers, "authorization": "Bearer x"}, peer) is None


def test_every_name_is_allowed_without_a_list(authenticator: DelegatingRequestAuthenticator) -> None:
    """Without allowed names, every certificate of the authority is the proxy's."""
    authenticator.request_header = RequestHeaderConfig(client_ca=PROXY.certificate)
    assert authenticator.authenticate_request(HEADERS, peer_of(PROXY, "any")) == JANE


def test_authorities_can_change(authenticator: DelegatingRequestAuthenticator) -> None:
    """A certificate of an authority that was replaced is no longer trusted."""
    authenticator.request_header = RequestHeaderConfig(client_ca=OTHER.certificate)
    with pytest.raises(StatusError):
        authenticator.authenticate_request(HEADERS, peer_of(PROXY, "front-proxy-client"))


def test_by_default_only_the_same_process_is_trusted() -> None:
    """Without a configuration, only an aggregator in the same process forwards users."""
    authenticator = DelegatingRequestAuthenticator()
    assert authenticator.authenticate_request(HEADERS, Peer("", FRONT_PROXY)) == JANE
    same_name = Peer("", User(name=FRONT_PROXY.name))
    with pytest.raises(StatusError):
        authenticator.authenticate_request(HEADERS, same_name)
    with pytest.raises(StatusError):
        authenticator.authenticate_request(HEADERS, peer_of(PROXY, "front-proxy-client"))
