"""What is refused of Greeting: asked as a function, which needs no server."""

import pytest
from pyctrl.errors import Rejected
from pyctrl.testing import admission_request, sample_of

from greeter import Greeting, GreetingValidation


def test_a_sample_may_be_made() -> None:
    """Nothing is wrong with it."""
    greeting = sample_of(Greeting)
    GreetingValidation().validate_create(greeting, admission_request(greeting))


def test_a_long_name_is_refused() -> None:
    """The answer names the field."""
    greeting = sample_of(Greeting)
    greeting.metadata.name = "x" * 53
    with pytest.raises(Rejected) as refused:
        GreetingValidation().validate_create(greeting, admission_request(greeting))
    assert [cause.field for cause in refused.value.causes] == ["metadata.name"]
