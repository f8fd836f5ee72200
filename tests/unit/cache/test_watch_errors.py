"""Errors of lists and watches: reaction, backoff and advice."""

from __future__ import annotations

import pytest

from pyctrl.cache._watch_errors import (
    EndedEarly,
    EventLost,
    RetryAction,
    advice,
    needs_attention,
    retry_action_for,
    retry_after,
)
from pyctrl.errors import (
    BadRequest,
    ConnectionFailed,
    Forbidden,
    Gone,
    Invalid,
    RequestTimeout,
    ServiceUnavailable,
    StreamBroken,
    TooManyRequests,
    Unauthorized,
)


@pytest.mark.parametrize(
    ("error", "watch", "streamed_list"),
    [
        (Gone("too old"), RetryAction.RELIST, RetryAction.RELIST),
        (EventLost("no name"), RetryAction.RELIST, RetryAction.RELIST),
        (RequestTimeout("no answer"), RetryAction.AT_ONCE, RetryAction.PAGES),
        (BadRequest("unknown option"), RetryAction.LIMITED, RetryAction.PAGES),
        (Invalid("sendInitialEvents is forbidden"), RetryAction.LIMITED, RetryAction.PAGES),
        (ConnectionFailed("refused"), RetryAction.AGAIN, RetryAction.AGAIN),
        (Unauthorized("expired"), RetryAction.AGAIN, RetryAction.AGAIN),
        (Forbidden("no"), RetryAction.AGAIN, RetryAction.AGAIN),
        (TooManyRequests("busy"), RetryAction.AGAIN, RetryAction.AGAIN),
        (StreamBroken("reset"), RetryAction.AGAIN, RetryAction.LIMITED),
        (EndedEarly("at once"), RetryAction.LIMITED, RetryAction.LIMITED),
        (ValueError("a bug"), RetryAction.LIMITED, RetryAction.LIMITED),
    ],
)
def test_each_error_has_one_reaction(error: Exception, watch: RetryAction, streamed_list: RetryAction) -> None:
    """Without streamed lists the reflector lists in pages; an expired version causes a new list."""
    assert retry_action_for(error, is_streamed_list=False) is watch
    assert retry_action_for(error, is_streamed_list=True) is streamed_list


def test_errors_that_pass_need_no_attention() -> None:
    """A missing permission needs attention; an outage does not."""
    assert needs_attention(Forbidden("no"))
    assert needs_attention(Unauthorized("expired"))
    assert not any(needs_attention(each("x")) for each in (ConnectionFailed, Gone, TooManyRequests, ServiceUnavailable))


def test_a_server_may_ask_for_thirty_seconds_at_most() -> None:
    """A Retry-After counts for 30 seconds at most; other errors have none."""
    assert retry_after(TooManyRequests("busy", retry_after=5.0)) == 5.0
    assert retry_after(TooManyRequests("busy", retry_after=86400.0)) == 30.0
    assert retry_after(TooManyRequests("busy")) == retry_after(ConnectionFailed("refused")) == 0.0


def test_a_refusal_is_logged_with_the_commands_that_grant_it() -> None:
    """A 403 is logged with the commands that grant the permission; other errors are logged without."""
    sentence = (
        'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" at the cluster scope'
    )
    text = advice(Forbidden(sentence))
    assert "--verb=list,watch --resource=configmaps" in text
    assert "--user=jane" in text
    assert advice(Forbidden("exceeded quota")) == advice(ConnectionFailed("refused")) == ""
