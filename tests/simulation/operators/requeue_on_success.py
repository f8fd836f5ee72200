"""The next run is requested after a success only: an external call that fails once ends the series."""

from __future__ import annotations

from datetime import timedelta

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler, Result
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta


class FeedSpec(Model):
    title: str


class Feed(CustomResource[FeedSpec], group=GROUP, version="v1"):
    """A feed of a news service outside of the cluster."""


class NewsService(External):
    def __init__(self) -> None:
        super().__init__()
        self.feeds: dict[str, str] = {}

    async def put(self, name: str, title: str) -> None:
        self.feeds[name] = title


class Buggy(ObjectReconciler[Feed]):
    def __init__(self, service: NewsService) -> None:
        self.service = service

    async def reconcile_object(self, feed: Feed) -> Result | None:
        try:
            await self.service.put(feed.metadata.name, feed.spec.title)
        except Exception:  # noqa: BLE001 - this is the mistake
            return self.after_failure()
        return Result.after(timedelta(minutes=10))

    def after_failure(self) -> Result | None:
        return None


class Fixed(Buggy):
    def after_failure(self) -> Result | None:
        return Result.after(timedelta(seconds=10))


async def scenario(client: Client, world: World) -> None:
    await client.create(Feed(metadata=meta("sport"), spec=FeedSpec(title="Sport")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(NewsService)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(NewsService)))


CASE = Case(
    name="requeue-on-success",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Feed,),
    story="NewsService.put",
    family="external",
)
