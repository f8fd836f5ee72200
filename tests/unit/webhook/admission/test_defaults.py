"""Measured defaults of the webhook server, equal to controller-runtime's."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

import pytest

from pyctrl.errors import ConfigError
from pyctrl.webhook import WebhookBuilder, Webhooks, WebhookServer
from pyctrl.webhook._certificates.certificate_watcher import ServingCertificate
from tests.unit.client._authority import Authority
from tests.unit.webhook._kinds import PodSet, PodSetWebhook, podset, question

VALIDATE = "/validate-apps-jicki-cn-v1alpha1-podset"
MEBIBYTE = 1024 * 1024


async def test_a_review_may_have_7_mebibytes() -> None:
    """A review of 7 MiB is answered; one byte more is refused."""
    webhooks = Webhooks()
    WebhookBuilder(webhooks).admits(PodSet).build(PodSetWebhook())
    asked = json.dumps(question("CREATE", podset(size=2))).encode()
    for size, status in ((7 * MEBIBYTE, 200), (7 * MEBIBYTE + 1, 413)):
        reply = await webhooks.answer(VALIDATE, asked.ljust(size), content_type="application/json")
        assert reply.status == status


async def test_a_certificate_is_looked_at_every_10_s(tmp_path: Path) -> None:
    """The certificate is read when it is loaded and every ten seconds after that."""
    issued = Authority().server("localhost")
    (tmp_path / "tls.crt").write_bytes(issued.certificate)
    (tmp_path / "tls.key").write_bytes(issued.key)
    certificate = ServingCertificate(tmp_path / "tls.crt", tmp_path / "tls.key")
    certificate.load()
    following = asyncio.create_task(certificate.follow())
    await asyncio.sleep(65)
    following.cancel()
    await asyncio.wait([following])

    assert (certificate.reads, certificate.failed_reads) == (7, 0)


@pytest.mark.real_time  # if there is a certificate in the directory, the server listens
async def test_it_is_at_9443_with_the_certificate_of_go_s_directory(caplog: pytest.LogCaptureFixture) -> None:
    """The default port is 9443, and the default directory of certificates is that of operators in Go."""
    caplog.set_level(logging.INFO)
    assert WebhookServer(Webhooks()).port == 9443
    server = WebhookServer(Webhooks(), host="localhost", port=0)
    running, ready = asyncio.create_task(server.run()), asyncio.create_task(server.wait_until_ready())
    await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
    server.ask_to_stop()
    [error] = await asyncio.gather(running, return_exceptions=True)
    ready.cancel()

    assert error is None or isinstance(error, ConfigError)
    named = f"{error} {[vars(record) for record in caplog.records]}"
    assert "/k8s-webhook-server/serving-certs/tls.crt" in named
