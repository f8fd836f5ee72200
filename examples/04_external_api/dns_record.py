"""DnsRecord: a record of a DNS service with an HTTP API, which is created, kept as specified, and deleted."""

from datetime import timedelta
from typing import Any

import aiohttp

from pyctrl import Builder, CustomResource, Manager, Model, ObjectReconciler, Result, TerminalError, allow, merge_from
from pyctrl.controller import Finalizers


class DnsRecordSpec(Model):
    address: str


class DnsRecordStatus(Model):
    id: str = ""


class DnsRecord(CustomResource[DnsRecordSpec, DnsRecordStatus], group="example.com", version="v1"):
    """DnsRecord is the address of its name in the DNS."""


class DnsRecordReconciler(ObjectReconciler[DnsRecord]):
    rbac = (allow(DnsRecord, "patch", subresource="status"),)

    def __init__(self, url: str, period: timedelta) -> None:
        self.url, self.period, self.finalizers = url, period, Finalizers[DnsRecord]()
        self.finalizers.register("example.com/dns-record", self.delete)

    async def reconcile_object(self, record: DnsRecord) -> Result:
        patch, found = merge_from(record), await self.id_of(record)
        wanted = {"owner": record.metadata.uid, "name": record.metadata.name, "address": record.spec.address}
        if not found or await self.call("PUT", f"/records/{found}", wanted) is None:
            found = (await self.call("POST", "/records", wanted))["id"]
        if record.status.id != found:
            record.status.id = found
            await self.client.status.patch(record, patch)
        return Result.after(self.period)  # the service reports no changes: correct them then

    async def delete(self, record: DnsRecord) -> None:
        if found := await self.id_of(record):
            await self.call("DELETE", f"/records/{found}")

    async def id_of(self, record: DnsRecord) -> str:  # it is not in the status if the answer was lost
        found = None if record.status.id else await self.call("GET", f"/records?owner={record.metadata.uid}")
        return found["id"] if found else record.status.id

    async def call(self, method: str, path: str, body: object = None) -> Any:
        async with aiohttp.request(method, self.url + path, json=body, timeout=aiohttp.ClientTimeout(10)) as response:
            if response.status == 404:
                return None  # there is no such record (any more)
            if response.status == 422:
                raise TerminalError(await response.text())  # no retry before the spec changes
            response.raise_for_status()  # any other error is retried with backoff
            return await response.json()


def add_dns(manager: Manager, *, url: str = "http://127.0.0.1:8053", period: timedelta = timedelta(minutes=5)) -> None:
    Builder(manager).build(DnsRecordReconciler(url, period))
