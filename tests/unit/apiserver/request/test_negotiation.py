"""Content negotiation."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._request.negotiation import (
    MediaTypeOptions,
    Representation,
    negotiate_discovery,
    negotiate_media_type,
)
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
        ("application/json;stream=watch;sv=v1", MediaTypeOptions()),
        ("application/json;v=v1, application/yaml", MediaTypeOptions("application/yaml")),
        ("application/json;sv=v2, application/yaml", MediaTypeOptions("application/yaml")),
        ("application/json;stream=all, application/yaml", MediaTypeOptions("application/yaml")),
    ],
)
def test_the_first_form_that_the_server_has_is_taken(accept: str, form: MediaTypeOptions) -> None:
    """The first supported media type of Accept is chosen."""
    assert negotiate_media_type(accept) == form


OLD, NEW = (f"application/json;g=apidiscovery.k8s.io;v={each};as=APIGroupDiscoveryList" for each in ("v2beta1", "v2"))


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (f"{NEW},{OLD},application/json", ("application/json", True)),  # kubectl's
        (f"{OLD},application/json", ("application/json", False)),
        (NEW.replace("json", "yaml"), ("application/yaml", True)),
        ("application/yaml", ("application/yaml", False)),
        ("text/html, */*;q=0.1", ("application/json", False)),
        ("application/vnd.kubernetes.protobuf", ("application/json", False)),
        ("", ("application/json", False)),
    ],
)
def test_a_discovery_document_is_aggregated_for_who_accepts_that_first(accept: str, form: tuple[str, bool]) -> None:
    """kubectl gets the aggregated form; curl and old clients get the unaggregated one."""
    assert negotiate_discovery(accept, has_aggregated=True) == form


@pytest.mark.parametrize(
    ("path", "accept", "code"),
    [
        ("/api", "application/*", 406),  # checked by kube-apiserver's router, which knows whole names only
        ("/apis/apps/v1", "application/*", 406),
        ("/apis", "application/*", 200),
        ("/apis/apps", "application/*", 200),
        ("/version", "application/*", 406),
        ("/version", "application/yaml", 406),
        ("/version", "text/html, application/json;q=0.1", 200),
        ("/openapi/v2", "application/*", 200),
        ("/openapi/v2", "application/yaml", 406),
        ("/openapi/v3/apis/apps/v1", "text/html", 406),
        ("/openapi/v3", "text/html", 200),
    ],
)
def test_each_document_has_its_own_media_types(ask: Asker, path: str, accept: str, code: int) -> None:
    """Versions and schemas are JSON only; a wildcard is accepted where kube-apiserver's router does not look."""
    assert ask.answer("GET", path, headers={"Accept": accept}).status == code


def test_a_refused_document_names_its_media_types(ask: Asker) -> None:
    """The message is that of the router, or of the document."""
    messages = [ask("GET", path, headers={"Accept": "text/html"})[1]["message"] for path in ("/apis", "/version")]
    accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    assert messages == [
        f"only the following media types are accepted: {accepted}",
        "406: Not Acceptable\n\nAvailable representations: application/json",
    ]


def test_subresources_without_columns_have_no_table(ask: Asker) -> None:
    """A table of a status or scale is served; that of a binding, an eviction or a resize is not."""
    pods = "/api/v1/namespaces/default/pods"
    ask("POST", pods, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    table = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
    found = {each: ask.answer("GET", f"{pods}/p/{each}", headers=table).status for each in ("status", "resize", "log")}
    assert found == {"status": 200, "resize": 406, "log": 406}


@pytest.mark.parametrize(
    ("path", "accept", "code"),
    [
        ("/apis", "text/html", 406),
        ("/apis", OLD, 406),
        ("/apis", "application/json;as=Table", 406),
        ("/apis", NEW, 200),
        ("/apis/apps", NEW, 406),
        ("/api/v1", NEW, 406),
        ("/apis/none", "text/html", 404),
    ],
)
def test_a_document_in_no_accepted_form_is_refused(ask: Asker, path: str, accept: str, code: int) -> None:
    """Discovery in another form than the server has is 406, after 404 for a group that is not served."""
    assert ask.answer("GET", path, headers={"Accept": accept}).status == code


def test_reviews_have_no_tables(ask: Asker) -> None:
    """A review posted for a table is 406, as its storage has none."""
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    body = b'{"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}'
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    assert ask("POST", path, body)[0] == 201
    code, refused = ask("POST", path, body, headers={"Accept": table})
    assert (code, refused["reason"]) == (406, "NotAcceptable")


def test_a_form_the_server_has_not_is_refused(ask: Asker) -> None:
    """Accept without a supported media type is 406."""
    assert ask("GET", CONFIGMAPS, headers={"Accept": "text/html"})[0] == 406
