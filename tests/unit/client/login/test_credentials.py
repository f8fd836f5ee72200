"""The Authorization header, and its renewal."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from pyctrl.client._login.credentials import Anonymous, BasicAuth, BearerToken, Credentials, TokenFile
from pyctrl.client._login.impersonation import Impersonation
from pyctrl.client._login.single_flight import SingleFlight
from pyctrl.errors import ConfigError


async def test_nobody_sends_nothing() -> None:
    """Without credentials there is no Authorization header, and a 401 is final."""
    credentials: Credentials = Anonymous()
    assert await credentials.authorization() is None
    assert await credentials.refresh() is False


async def test_a_token_is_sent_as_bearer_without_the_line_break_around_it() -> None:
    """White space and line breaks around a token are removed."""
    credentials = BearerToken(" abc.def \n")
    assert await credentials.authorization() == "Bearer abc.def"
    assert await credentials.refresh("Bearer abc.def") is False


@pytest.mark.parametrize("token", ["", " \n", "two words", "line\nbreak", "gar\x00bage", "schlüssel"])
def test_a_token_that_cannot_stand_in_a_header_is_refused_without_showing_it(token: str) -> None:
    """An error about an empty or invalid token names its source and does not show the token."""
    with pytest.raises(ConfigError, match="the token of 'dev' (is empty|has characters that are invalid)") as caught:
        BearerToken(token, origin="the token of 'dev'")
    assert not token.strip() or token.strip() not in str(caught.value)


async def test_a_password_is_sent_as_basic() -> None:
    """Name and password become the Basic header of RFC 7617, in UTF-8."""
    assert await BasicAuth("dev", "pässword").authorization() == "Basic ZGV2OnDDpHNzd29yZA=="


@pytest.mark.parametrize(
    "credentials", [BearerToken("s3cret"), BasicAuth("dev", "s3cret"), TokenFile("/x", token="s3cret")], ids=repr
)
def test_no_secret_is_in_the_text_of_credentials(credentials: Credentials) -> None:
    """The text of credentials shows no token and no password."""
    assert "s3cret" not in repr(credentials)


async def test_a_token_file_is_read_again_within_a_minute(tmp_path: Path) -> None:
    """A token that kubelet replaces is used within 60 s; in between the file is not read."""
    path = tmp_path / "token"
    path.write_text("first\n")
    credentials = TokenFile(path)
    assert await credentials.authorization() == "Bearer first"
    path.write_text("second\n")
    await asyncio.sleep(59)
    assert await credentials.authorization() == "Bearer first"
    await asyncio.sleep(1)
    assert await credentials.authorization() == "Bearer second"


async def test_a_token_file_is_read_at_once_after_a_refusal(tmp_path: Path) -> None:
    """After a 401 the token file is read at once; the request is only retried with a new token."""
    path = tmp_path / "token"
    path.write_text("first")
    credentials = TokenFile(path)
    await credentials.authorization()
    assert await credentials.refresh("Bearer first") is False
    path.write_text("second")
    assert await credentials.refresh("Bearer first") is True
    assert await credentials.authorization() == "Bearer second"


async def test_a_refusal_of_a_token_that_was_replaced_meanwhile_is_worth_another_try(tmp_path: Path) -> None:
    """Of two requests refused with the old token, both are retried with the new one."""
    path = tmp_path / "token"
    path.write_text("first")
    credentials = TokenFile(path)
    await credentials.authorization()
    path.write_text("second")
    assert [await credentials.refresh("Bearer first") for _ in range(2)] == [True, True]


async def test_the_last_token_stays_while_the_file_cannot_be_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """If a token file disappears, the last token stays in use, with a warning."""
    path = tmp_path / "token"
    path.write_text("first")
    credentials = TokenFile(path)
    await credentials.authorization()
    path.unlink()
    await asyncio.sleep(61)
    with caplog.at_level(logging.WARNING, "pyctrl.client"):
        assert await credentials.authorization() == "Bearer first"
    assert str(path) in caplog.records[-1].__dict__["error"]


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), (b"", "is empty"), (b"\xff\xfe", "is not text")])
async def test_a_token_file_that_was_never_good_is_an_error(tmp_path: Path, content: bytes | None, why: str) -> None:
    """A token file without a first valid token is an error with the file and the reason."""
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=why) as caught:
        await TokenFile(path).authorization()
    assert str(path) in str(caught.value)


def test_credentials_survive_their_loop(tmp_path: Path) -> None:
    """The same credentials work in consecutive event loops with independent clocks."""
    path = tmp_path / "token"
    path.write_text("first")
    credentials = TokenFile(path)
    asyncio.run(credentials.authorization())
    credentials._read_at = 10.0**12  # the state after a loop with another clock
    path.write_text("second")
    assert asyncio.run(credentials.authorization()) == "Bearer second"


def test_impersonation_is_told_in_headers() -> None:
    """`--as`, `--as-group`, `--as-uid` and extra become impersonation headers, one for each group."""
    who = Impersonation(user="jane", groups=("dev", "ops"), uid="7", extra={"acme.com/scope": ("a", "b")})
    assert who.headers() == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-acme.com%2Fscope", "a"),
        ("Impersonate-Extra-acme.com%2Fscope", "b"),
    )


def test_impersonation_needs_a_user() -> None:
    """Impersonated groups without a user are refused, with a clearer error than the API server's."""
    with pytest.raises(ConfigError, match="only together with a user"):
        Impersonation(user="", groups=("dev",))


class Attempt:
    """A slow operation that counts its runs."""

    def __init__(self) -> None:
        self.made = 0
        self.error: Exception | None = None

    async def __call__(self) -> None:
        self.made += 1
        await asyncio.sleep(1)
        if self.error:
            raise self.error


async def test_one_attempt_is_made_for_all_who_wait() -> None:
    """Ten concurrent callers share one attempt; a later caller starts another one."""
    flight, attempt = SingleFlight(), Attempt()
    await asyncio.gather(*(flight.run(attempt) for _ in range(10)))
    assert attempt.made == 1
    await flight.run(attempt)
    assert attempt.made == 2


async def test_a_failure_is_shared_too() -> None:
    """A failed attempt fails all callers that wait for it, without a retry by each."""
    flight, attempt = SingleFlight(), Attempt()
    attempt.error = ConfigError("no")
    outcomes = await asyncio.gather(*(flight.run(attempt) for _ in range(10)), return_exceptions=True)
    assert [str(outcome) for outcome in outcomes] == ["no"] * 10
    assert attempt.made == 1


async def test_a_cancelled_attempt_is_made_by_the_next() -> None:
    """If the caller that makes the attempt is cancelled, another caller makes the attempt."""
    flight, attempt = SingleFlight(), Attempt()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(flight.run(attempt))
        second = group.create_task(flight.run(attempt))
        await asyncio.sleep(0.5)
        first.cancel()
    assert second.exception() is None
    assert attempt.made == 2
