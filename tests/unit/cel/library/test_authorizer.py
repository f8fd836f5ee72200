"""The authorizer library of CEL."""

from __future__ import annotations

from pyctrl.cel import (
    DYN,
    INT,
    MATCH_CONDITION,
    AuthorizerAttributes,
    AuthorizerDecision,
    AuthorizerValue,
    Environment,
)


def environment() -> Environment:
    return Environment({**MATCH_CONDITION, "self": DYN, "n": INT})


def test_the_authorizer_is_asked_what_the_expression_says() -> None:
    """`authorizer` passes the attributes of the check to the function that decides."""
    asked: list[AuthorizerAttributes] = []

    def decide(access: AuthorizerAttributes) -> AuthorizerDecision:
        asked.append(access)
        return AuthorizerDecision(allowed=access.verb == "get", reason="because")

    text = "authorizer.group('apps').resource('deployments').namespace('x').name('y').check('get').allowed()"
    program = environment().compile(text)

    assert program.uses("authorizer")
    assert program.evaluate({"authorizer": AuthorizerValue(decide)}) is True
    assert asked == [AuthorizerAttributes(verb="get", group="apps", resource="deployments", namespace="x", name="y")]
