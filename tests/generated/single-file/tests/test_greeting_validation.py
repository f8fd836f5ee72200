"""Unit tests of the validating webhook of Greeting."""

import pytest
from pyctrl.errors import Rejected
from pyctrl.testing import admission_request, sample_of

from greeter import Greeting, GreetingValidation


def test_a_sample_is_valid() -> None:
    """The sample can be created."""
    greeting = sample_of(Greeting)
    GreetingValidation().validate_create(greeting, admission_request(greeting))


def test_a_long_name_is_rejected() -> None:
    """The error names the field."""
    greeting = sample_of(Greeting)
    greeting.metadata.name = "x" * 53
    with pytest.raises(Rejected) as refused:
        GreetingValidation().validate_create(greeting, admission_request(greeting))
    assert [cause.field for cause in refused.value.causes] == ["metadata.name"]
