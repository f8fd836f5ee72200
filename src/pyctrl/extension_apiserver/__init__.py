"""Extension API servers: kinds of a program behind an APIService, with objects that are stored or computed on read.

`ExtensionAPIServer` serves each `APIResource` as kube-apiserver serves its own kinds: discovery, OpenAPI, tables,
watches, patches, server-side apply. kube-apiserver authenticates users and decides about their access. The objects are
in the storage of the server, or in one that implements interfaces such as `Getter`, `Lister` and `Watcher`.
"""

from pyctrl.extension_apiserver._api_resource import APIResource, Subresource
from pyctrl.extension_apiserver._api_services import (
    api_service_names,
    api_services,
    in_process_host,
    in_process_objects,
)
from pyctrl.extension_apiserver._polling import PollingStorage
from pyctrl.extension_apiserver._server import ExtensionAPIServer
from pyctrl.extension_apiserver._storage import (
    ChangeType,
    Creater,
    Getter,
    GracefulDeleter,
    Lister,
    Storage,
    StorageRequest,
    Updater,
    Watcher,
)

__all__ = [
    "APIResource",
    "ChangeType",
    "Creater",
    "ExtensionAPIServer",
    "Getter",
    "GracefulDeleter",
    "Lister",
    "PollingStorage",
    "Storage",
    "StorageRequest",
    "Subresource",
    "Updater",
    "Watcher",
    "api_service_names",
    "api_services",
    "in_process_host",
    "in_process_objects",
]
