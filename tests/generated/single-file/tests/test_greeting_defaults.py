"""Unit tests of the defaulting webhook of Greeting."""

from pyctrl.testing import admission_request, sample_of

from greeter import Greeting, GreetingDefaults


def test_create_sets_the_creator() -> None:
    """The annotation has the user who created the object; updates do not change it."""
    greeting = sample_of(Greeting)
    GreetingDefaults().default(greeting, admission_request(greeting, username="jane"))
    GreetingDefaults().default(greeting, admission_request(greeting, old=greeting, username="joe"))
    assert greeting.metadata.annotations == {"generated.pyctrl.test/created-by": "jane"}
