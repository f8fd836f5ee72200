"""Credentials from an OpenID Connect provider on the loopback interface."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from pyctrl import _clock
from pyctrl.client._login.oidc import OidcCredentials, OidcProvider
from pyctrl.client._login.tls import Pem, Tls
from pyctrl.errors import ConfigError
from tests.unit.client._authority import Authority

pytestmark = pytest.mark.real_time  # sockets

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def id_token(expires: datetime) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": int(expires.timestamp())}).encode()).decode().rstrip("=")
    return f"head.{claims}.signature"


EXPIRED, GOOD = id_token(NOW - timedelta(minutes=1)), id_token(NOW + timedelta(hours=1))


class Issuer:
    """A provider that exchanges the refresh token ``r1`` for `GOOD`."""

    def __init__(self) -> None:
        self.authority = Authority("provider")
        self.answer: dict[str, str] = {"id_token": GOOD}
        self.clients: list[str] = []
        self.asked: list[dict[str, str]] = []
        self.url = ""

    def provider(self, *, secret: str = "s3cret", ca: bytes | None = None) -> OidcProvider:
        tls = Tls(ca=Pem("ca", data=ca or self.authority.pem))
        return OidcProvider(issuer=self.url, client_id="me", client_secret=secret, tls=tls, origin="user 'dev'")

    async def metadata(self, request: web.Request) -> web.Response:
        return web.json_response({"token_endpoint": f"{self.url}/token"})

    async def token(self, request: web.Request) -> web.Response:
        self.clients.append(request.headers.get("Authorization", "none"))
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.asked.append(form)
        if form["refresh_token"] == "revoked":
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response(self.answer)


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    issuer = Issuer()
    application = web.Application()
    application.router.add_get("/.well-known/openid-configuration", issuer.metadata)
    application.router.add_post("/token", issuer.token)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=issuer.authority.server_context("127.0.0.1"))
    await site.start()
    issuer.url = f"https://127.0.0.1:{runner.addresses[0][1]}"
    yield issuer
    await runner.cleanup()


@pytest.fixture(autouse=True)
def _wall() -> Iterator[None]:
    with _clock.use(lambda: NOW):
        yield


async def test_a_good_id_token_is_used_as_it_is(issuer: Issuer) -> None:
    """While the kubeconfig's token is valid, no request is sent to the provider."""
    credentials = OidcCredentials(issuer.provider(), id_token=GOOD, refresh_token="r1")
    assert await credentials.authorization() == f"Bearer {GOOD}"
    assert issuer.asked == []


async def test_an_expired_id_token_is_renewed_once_for_all(issuer: Issuer) -> None:
    """Requests with an expired token share one renewal; the response needs no new refresh token."""
    credentials = OidcCredentials(issuer.provider(), id_token=EXPIRED, refresh_token="r1")
    headers = await asyncio.gather(*(credentials.authorization() for _ in range(5)))
    assert set(headers) == {f"Bearer {GOOD}"}
    assert issuer.asked == [{"grant_type": "refresh_token", "refresh_token": "r1"}]


async def test_the_client_says_who_it_is(issuer: Issuer) -> None:
    """A client with a secret sends it in the header, escaped as OAuth requires; others send their id in the form."""
    await OidcCredentials(issuer.provider(secret="a b:c"), refresh_token="r1").authorization()
    await OidcCredentials(issuer.provider(secret=""), refresh_token="r1").authorization()
    assert issuer.clients == ["Basic " + base64.b64encode(b"me:a+b%3Ac").decode(), "none"]
    assert issuer.asked[1]["client_id"] == "me"


async def test_a_refusal_renews_the_token(issuer: Issuer) -> None:
    """After a 401 the provider renews the token, and the request is retried."""
    other = id_token(NOW + timedelta(hours=2))
    credentials = OidcCredentials(issuer.provider(), id_token=other, refresh_token="r1")
    assert await credentials.refresh(f"Bearer {other}") is True
    assert await credentials.authorization() == f"Bearer {GOOD}"
    assert await credentials.refresh(f"Bearer {other}") is True
    assert len(issuer.asked) == 1


async def test_a_replaced_refresh_token_is_used_and_told(issuer: Issuer, caplog: pytest.LogCaptureFixture) -> None:
    """A new refresh token is used from then on; the log warns that the kubeconfig has the old one."""
    issuer.answer = {"id_token": GOOD, "refresh_token": "r2"}
    credentials = OidcCredentials(issuer.provider(), refresh_token="r1")
    with caplog.at_level(logging.WARNING, "pyctrl.client"):
        await credentials.authorization()
    assert "log in again before the next start" in caplog.text
    await credentials.refresh()
    assert [form["refresh_token"] for form in issuer.asked] == ["r1", "r2"]


async def test_a_provider_that_is_not_trusted_gets_nothing(issuer: Issuer) -> None:
    """Client secret and refresh token are only sent to a provider that the authority has signed."""
    stranger = issuer.provider(ca=Authority("stranger").pem)
    with pytest.raises(ConfigError, match=f"user 'dev': {issuer.url} returned no new token"):
        await OidcCredentials(stranger, refresh_token="r1").authorization()
    assert issuer.asked == []


async def test_a_revoked_refresh_token_is_an_error(issuer: Issuer) -> None:
    """The error about a rejected renewal has the status and the user."""
    with pytest.raises(ConfigError, match="user 'dev'.*400"):
        await OidcCredentials(issuer.provider(), refresh_token="revoked").authorization()


async def test_an_answer_without_a_token_is_an_error(issuer: Issuer) -> None:
    """The error about a response without id_token has the usual reason, a missing scope."""
    issuer.answer = {"access_token": "x"}
    with pytest.raises(ConfigError, match="is the scope 'openid' granted"):
        await OidcCredentials(issuer.provider(), refresh_token="r1").authorization()


async def test_without_a_refresh_token_the_user_must_log_in(issuer: Issuer) -> None:
    """An expired token without refresh token is an error with the next step; a 401 is final."""
    credentials = OidcCredentials(issuer.provider(), id_token=EXPIRED)
    with pytest.raises(ConfigError, match="there is no refresh-token: log in again"):
        await credentials.authorization()
    assert await credentials.refresh() is False


@pytest.mark.parametrize("token", ["x", "a.b.c", "a.W10.c"])
def test_a_token_that_is_none_is_refused(token: str) -> None:
    """An id-token that is no JSON Web Token is an error when the kubeconfig is read."""
    with pytest.raises(ConfigError, match="user 'dev': the (id-token is not|claims of the id-token do not)"):
        OidcCredentials(OidcProvider(issuer="https://x", client_id="me", origin="user 'dev'"), id_token=token)
