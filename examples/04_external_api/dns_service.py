"""A small DNS service in memory, for the test and for trying the example: `python dns_service.py`.

- `GET /records` returns all records, `GET /records?owner=OWNER` the one of an owner.
- `POST /records` creates the record of an owner, and returns it with its id; repeated, it creates no second one.
- `PUT /records/ID` and `DELETE /records/ID` replace and delete a record.
- `PUT /failing/503` makes all other requests fail with this status, and `PUT /failing/0` ends that.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from ipaddress import ip_address
from itertools import count
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler


class DnsService:
    """The records by id, the status with which requests fail (0: they do not), and the number of answers by status."""

    def __init__(self) -> None:
        self.records: dict[str, dict[str, Any]] = {}
        self.failing = 0
        self.loses_next_record = False
        self.answers: Counter[int] = Counter()
        self._numbers, self._answered = count(1), asyncio.Condition()

    def app(self) -> web.Application:
        """Return the service as an application of aiohttp."""
        app = web.Application(middlewares=[self._answer])
        app.router.add_get("/records", self._get)
        app.router.add_post("/records", self._create)
        app.router.add_put("/records/{id}", self._replace)
        app.router.add_delete("/records/{id}", self._delete)
        app.router.add_put("/failing/{status}", self._set_failing)
        return app

    async def wait_until(self, is_met: Callable[[], bool]) -> None:
        """Wait until a condition is met after an answer, for ten seconds at most."""
        async with asyncio.timeout(10), self._answered:
            await self._answered.wait_for(is_met)

    @web.middleware
    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        is_failing = self.failing and not request.path.startswith("/failing/")
        answer = web.Response(status=self.failing) if is_failing else await handler(request)
        if self.loses_next_record and request.method == "POST":
            self.loses_next_record, answer = False, web.Response(status=500)  # it is created nevertheless
        async with self._answered:
            self.answers[answer.status] += 1
            self._answered.notify_all()
        return answer

    async def _get(self, request: web.Request) -> web.Response:
        owner = request.query.get("owner")
        found = [each for each in self.records.values() if owner in (None, each["owner"])]
        if owner is None:
            return web.json_response(found)
        return web.json_response(found[0]) if found else web.Response(status=404)

    async def _create(self, request: web.Request) -> web.Response:
        owner = (await request.json())["owner"]
        found = next((key for key, each in self.records.items() if each["owner"] == owner), None)
        return await self._store(request, found or f"rec-{next(self._numbers)}")

    async def _replace(self, request: web.Request) -> web.Response:
        key = request.match_info["id"]
        return await self._store(request, key) if key in self.records else web.Response(status=404)

    async def _store(self, request: web.Request, key: str) -> web.Response:
        record = await request.json()
        try:
            ip_address(record["address"])
        except ValueError as error:
            return web.Response(status=422, text=f"{error}\n")
        self.records[key] = {"id": key, **record}
        return web.json_response(self.records[key])

    async def _delete(self, request: web.Request) -> web.Response:
        record = self.records.pop(request.match_info["id"], None)
        return web.json_response(record) if record else web.Response(status=404)

    async def _set_failing(self, request: web.Request) -> web.Response:
        self.failing = int(request.match_info["status"])
        return web.Response(text=f"failing: {self.failing}\n")


if __name__ == "__main__":
    web.run_app(DnsService().app(), host="127.0.0.1", port=8053)
