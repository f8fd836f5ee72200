"""Log lines of webhooks shared with controller-runtime, with their keys."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from pyctrl.webhook import (
    AdmissionRequest,
    Defaulter,
    WebhookBuilder,
    Webhooks,
    WebhookServer,
    defaulting,
    review,
)
from pyctrl.webhook._certificates.certificate_watcher import ServingCertificate
from tests.unit.client._authority import Authority, Issued
from tests.unit.log._logged import logged, missing
from tests.unit.webhook._kinds import PodSet, PodSetWebhook, podset, question
from tests.unit.webhook.conversion.test_conversion import CONVERSION

REGISTERED = """
info | Registering a mutating webhook   | GVK path
info | Registering a validating webhook | GVK path
info | Registering webhook              | path
info | Conversion webhook enabled       | GVK
"""
SERVED = """
info | Starting webhook server                               |
info | Serving webhook server                                | host port
info | Shutting down webhook server with timeout of 1 minute |
"""
FOLLOWED = """
info | Starting certificate poll+watcher | interval cert key
info | Updated current TLS certificate   | cert key
"""
ASKED = """
info | completed | webhookGroup webhookKind PodSet namespace name resource user requestID
"""


class Talkative(Defaulter[PodSet]):
    """Logs a line."""

    def default(self, obj: PodSet, request: AdmissionRequest) -> None:
        logging.getLogger("pyctrl.test").info("completed")


def test_webhooks_say_where_they_answer() -> None:
    """Registering a webhook logs its kind and path."""
    with logged() as lines:
        webhooks = Webhooks()
        WebhookBuilder(webhooks).admits(PodSet).build(PodSetWebhook())
        webhooks.add_conversion(CONVERSION)

    assert missing(REGISTERED, lines) == []
    assert "/validate-apps-jicki-cn-v1alpha1-podset" in {line.get("path") for line in lines}


async def test_what_a_webhook_logs_belongs_to_its_question() -> None:
    """Each line logged by a webhook has the user and the object of the review."""
    with logged() as lines:
        await review(defaulting(PodSet, Talkative()), question("CREATE", podset(size=2)))

    assert missing(ASKED, lines) == []


def write(issued: Issued, directory: Path) -> None:
    (directory / "tls.crt").write_bytes(issued.certificate)
    (directory / "tls.key").write_bytes(issued.key)


async def test_a_certificate_says_what_it_follows_and_that_it_has_changed(tmp_path: Path) -> None:
    """Following a certificate logs its files and the interval, and a change."""
    authority = Authority()
    write(authority.server("localhost"), tmp_path)
    certificate = ServingCertificate(tmp_path / "tls.crt", tmp_path / "tls.key")
    certificate.load()
    with logged() as lines:
        following = asyncio.create_task(certificate.follow())
        await asyncio.sleep(15)
        write(authority.server("localhost", "second"), tmp_path)
        await asyncio.sleep(15)
        following.cancel()
        await asyncio.wait([following])

    assert missing(FOLLOWED, lines) == []
    assert lines[0]["interval"] == 10


@pytest.mark.real_time
async def test_a_server_says_that_it_serves(tmp_path: Path) -> None:
    """A server logs its address when it starts, and its end."""
    write(Authority().server("localhost"), tmp_path)
    server = WebhookServer(Webhooks(), certificates=tmp_path, host="localhost", port=0)
    with logged() as lines:
        async with asyncio.TaskGroup() as group:
            group.create_task(server.run())
            await server.wait_until_ready()
            server.ask_to_stop()

    assert missing(SERVED, lines) == []
