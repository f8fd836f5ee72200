"""Messages of responses without a Status, as client-go has them (apimachinery's NewGenericServerResponse)."""

from __future__ import annotations

from pyctrl._go.text import quoted

__all__ = ["generic_server_message"]

_MESSAGES = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}
_WITH_TEXT = (403, 406, 415)  # whose message is the text of the server


def generic_server_message(status: int, text: str) -> str:
    """Return the message of a failed response, whose body is a text and no Status."""
    if status in _MESSAGES:
        return _MESSAGES[status]
    if status in _WITH_TEXT:
        return text
    if status >= 500:
        return f"an error on the server ({quoted(text)}) has prevented the request from succeeding"
    return f"the server responded with the status code {status} but did not return more information"
