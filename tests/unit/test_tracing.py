"""Tracing of a program: spans of reconciles, of their time in the queue, and of requests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pyctrl import enable_tracing
from pyctrl._log import current_log_context
from pyctrl.api import Key
from pyctrl.client import Client, InProcessTransport
from pyctrl.controller import Request
from pyctrl.errors import PyctrlError
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit._spans import A, run
from tests.unit.client._fake_server import FakeServer


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """The spans that have ended."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    stop = enable_tracing(provider)
    yield exporter
    stop()


async def test_without_tracing_there_is_nothing() -> None:
    """Without tracing, requests have no trace header and the log has no trace."""
    server = FakeServer()
    server.reply({"metadata": {"name": "web"}})
    contexts = []

    async def reconcile(request: Request) -> None:
        contexts.append(current_log_context())
        await Client(InProcessTransport(server)).get(ConfigMap, Key("default", "web"))

    await run(reconcile, A)
    assert "traceparent" not in server.asked[-1].headers
    assert "trace_id" not in contexts[0]


def test_opentelemetry_is_not_imported_before_it_is_asked_for() -> None:
    """OpenTelemetry is imported only if a program uses it, because its import is slow."""
    code = "import sys, pyctrl.manager, pyctrl.client; assert not [m for m in sys.modules if 'opentelemetry' in m]"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracing without the package is an error with the command that installs it."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "pyctrl._opentelemetry", raising=False)
    with pytest.raises(PyctrlError, match="pip install 'pyctrl-runtime\\[tracing\\]'"):
        enable_tracing()
