"""Peer: the official Python client, with its informer for pods, and manual list and watch for custom resources.

The informer supports only models: it does not find the items of lists of dictionaries, as custom resources have.
"""

from __future__ import annotations

import threading
from typing import Any

from kubernetes import client
from kubernetes import informer as untyped_informer
from kubernetes import watch as untyped_watch
from peers._commands import Facts, arguments, obey, packages
from peers._store import GROUP, Store

informer: Any = untyped_informer  # the library has types only for its models
watch: Any = untyped_watch


class Kept:
    """All objects of a kind, updated by a thread."""

    def __init__(self, api: client.ApiClient, kind: str, count: int) -> None:
        self._api, self._kind, self._count = api, kind, count
        self._store, self._news = Store(), threading.Condition()

    def sync(self) -> Facts:
        """Start, and wait for the first list."""
        if self._kind == "pods":
            pods = informer.SharedInformer(client.CoreV1Api(self._api).list_pod_for_all_namespaces)
            for kind in ("ADDED", "MODIFIED"):
                pods.add_event_handler(kind, self._take)
            pods.start()
        else:
            threading.Thread(target=self._run, daemon=True).start()
        with self._news:
            while len(self._store.objects) < self._count:
                self._news.wait()
        return self.follow(0)

    def follow(self, until: int) -> Facts:
        """Wait for a version."""
        with self._news:
            while self._store.version < until:
                self._news.wait()
        return {"objects": len(self._store.objects)}

    def _take(self, item: Any) -> None:
        with self._news:
            self._store.put(item)
            self._news.notify_all()

    def _run(self) -> None:
        call: Any = client.CustomObjectsApi(self._api).list_cluster_custom_object
        while True:
            page = call(*GROUP)
            with self._news:
                self._store.replace(page["items"])
                self._news.notify_all()
            try:
                stream = watch.Watch().stream(call, *GROUP, resource_version=page["metadata"]["resourceVersion"])
                for event in stream:
                    self._take(event["object"])
            except client.ApiException as error:
                if error.status != 410:
                    raise


def main() -> None:
    """Run the peer with its arguments."""
    told = arguments()
    with client.ApiClient(client.Configuration(host=told.server)) as api:
        kept = Kept(api, told.kind, told.objects)
        obey({"sync": kept.sync, "follow": kept.follow}, packages("kubernetes", "urllib3"))


if __name__ == "__main__":
    main()
