"""Webhooks of a packaged program: Service, certificates and permissions."""

from __future__ import annotations

from pathlib import Path

import yaml

from pyctrl.api import Access
from pyctrl.client import Config
from pyctrl.manager import NoServer
from pyctrl.packaging import install, tree
from pyctrl.program import ProgramManager, WebhookOptions, certificate_secret
from pyctrl.webhook import ManagedCertificates, Service, Webhooks, WebhookServer
from tests.unit.packaging._programs import CONVERSION, WEBHOOK, WIDGETS, of_text
from tests.unit.packaging.objects.test_parts import arguments, named


async def test_a_program_with_webhooks_makes_its_certificate(tmp_path: Path) -> None:
    """The program makes its certificate: Deployment, configurations and permissions refer to the webhook Service."""
    project = await of_text(tmp_path, WIDGETS + WEBHOOK)
    objects = install(project)
    assert arguments(project)[-2:] == [
        "--webhook-service=widgets-webhook-service",
        "--webhook-configuration=widgets-webhook-configuration",
    ]
    service = named(objects, "Service", "widgets-webhook-service")
    assert service["spec"]["ports"] == [{"port": 443, "protocol": "TCP", "targetPort": 9443}]
    configuration = named(objects, "ValidatingWebhookConfiguration", "widgets-webhook-configuration")
    (webhook,) = configuration["webhooks"]
    assert webhook["clientConfig"]["service"] == {
        "namespace": "widgets-system",
        "name": "widgets-webhook-service",
        "path": "/validate-example-com-v1-widget",
        "port": 443,
    }
    for verb in ("get", "update"):
        wanted = Access(verb, resource="secrets", namespace="widgets-system", name="widgets-webhook-service-cert")
        assert project.grants.allow(wanted)
    assert objects[-1] is configuration or objects[-1] == configuration  # called after the other objects exist


async def test_who_converts_is_asked_before_it_is_ready(tmp_path: Path) -> None:
    """The conversion webhook is served before readiness, because the caches need it to read stored objects."""
    service = ("Service", "widgets-webhook-service")
    converts = named(install(await of_text(tmp_path, WIDGETS + CONVERSION)), *service)
    assert converts["spec"]["publishNotReadyAddresses"] is True
    admits = named(install(await of_text(tmp_path, WIDGETS + WEBHOOK)), *service)
    assert "publishNotReadyAddresses" not in admits["spec"]


async def test_programs_in_one_namespace_have_a_certificate_each(tmp_path: Path) -> None:
    """Two programs in one namespace have different certificate Secrets, so that neither overwrites the other's."""
    secrets = set()
    for name in ("widgets", "others"):
        project = await of_text(tmp_path, WIDGETS + WEBHOOK, name=name, namespace="operators")
        secrets.add(certificate_secret(project.webhook_service))
        mounting = install(
            await of_text(
                tmp_path, WIDGETS + WEBHOOK, name=name, namespace="operators", webhook_certificates="cert-manager"
            )
        )
        made = named(mounting, "Certificate", f"{name}-serving-cert")["spec"]["secretName"]
        volumes = named(mounting, "Deployment", project.account.name)["spec"]["template"]["spec"]["volumes"]
        assert volumes[-1] == {"name": "webhook-certs", "secret": {"secretName": made}}
        assert made == certificate_secret(project.webhook_service).name
    assert len(secrets) == 2


async def test_cert_manager_makes_the_certificate_if_it_is_told_to(tmp_path: Path) -> None:
    """With cert-manager the certificate is mounted and injected, and the program needs no permission for Secrets."""
    project = await of_text(tmp_path, WIDGETS + WEBHOOK, webhook_certificates="cert-manager")
    texts = tree(project)
    assert arguments(project)[-1].endswith("/k8s-webhook-server/serving-certs")
    certificate = yaml.safe_load(texts["certmanager/certificate-webhook.yaml"])
    assert certificate["spec"]["dnsNames"][0] == "widgets-webhook-service.widgets-system.svc"
    configuration = yaml.safe_load(texts["webhook/manifests.yaml"])
    assert configuration["metadata"]["annotations"] == {
        "cert-manager.io/inject-ca-from": "widgets-system/widgets-serving-cert"
    }
    assert not any("secrets" in rule.resources for rules in project.grants.rules.values() for rule in rules)
    listed = yaml.safe_load(texts["default/kustomization.yaml"])["resources"]
    assert listed == ["../crd", "../rbac", "../manager", "../webhook", "../certmanager", "metrics_service.yaml"]


async def test_a_server_without_a_certificate_is_given_one() -> None:
    """With `--webhook-service` a server without a certificate gets one; a server with a certificate keeps it."""
    async with ProgramManager(Config.in_process(NoServer())) as manager:
        manager.webhook_options = WebhookOptions(service=Service("shop", "hooks"), configuration="checks")
        bare = WebhookServer(Webhooks())
        manager.add(bare)
        made = [each.runnable for each in manager.members if isinstance(each.runnable, ManagedCertificates)]
        assert [each.target for each in made] == [Service("shop", "hooks")]
        assert bare.has_provider

        manager.add(WebhookServer(Webhooks(), certificates=made[0]))
        assert sum(isinstance(each.runnable, ManagedCertificates) for each in manager.members) == 1
