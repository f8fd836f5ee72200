"""What is filled in of Greeting: asked as a function, which needs no server."""

from pyctrl.testing import admission_request, sample_of

from greeter import Greeting, GreetingDefaults


def test_a_new_one_tells_who_made_it() -> None:
    """Whoever asks for it stands in an annotation, and afterwards nobody else does."""
    greeting = sample_of(Greeting)
    GreetingDefaults().default(greeting, admission_request(greeting, username="jane"))
    GreetingDefaults().default(greeting, admission_request(greeting, old=greeting, username="joe"))
    assert greeting.metadata.annotations == {"generated.pyctrl.test/created-by": "jane"}
