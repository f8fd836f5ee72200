"""Content negotiation."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._request.negotiation import MediaTypeOptions, Representation, negotiate_media_type
from tests.unit.apiserver._kit import CONFIGMAPS, Asker

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", MediaTypeOptions()),
        ("*/*", MediaTypeOptions()),
        ("application/vnd.kubernetes.protobuf,application/json", MediaTypeOptions()),
        ("application/yaml", MediaTypeOptions("application/yaml")),
        (TABLE, MediaTypeOptions(shape=Representation.TABLE, kind="Table")),
        (
            "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
            MediaTypeOptions(shape=Representation.TABLE, version="v1beta1", kind="Table"),
        ),
        ("application/json;as=Nonsense;v=v1;g=meta.k8s.io, application/json", MediaTypeOptions()),
        ("application/json;stream=watch", MediaTypeOptions()),
    ],
)
def test_the_first_form_that_the_server_has_is_taken(accept: str, form: MediaTypeOptions) -> None:
    """The first supported media type of Accept is chosen."""
    assert negotiate_media_type(accept) == form


def test_a_form_the_server_has_not_is_refused(ask: Asker) -> None:
    """Accept without a supported media type is 406."""
    assert ask("GET", CONFIGMAPS, headers={"Accept": "text/html"})[0] == 406
