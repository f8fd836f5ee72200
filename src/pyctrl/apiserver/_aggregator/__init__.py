"""Aggregation layer: requests for the group versions of APIServices with a service are proxied to that service."""

from pyctrl.apiserver._aggregator.aggregator import Aggregator
from pyctrl.apiserver._aggregator.https_transport import HttpsTransport
from pyctrl.apiserver._aggregator.proxy_handler import ProxyHandler, user_headers
from pyctrl.apiserver._aggregator.service_transport import ProxyRequest, ServiceTransport, ServiceUnreachable

__all__ = [
    "Aggregator",
    "HttpsTransport",
    "ProxyHandler",
    "ProxyRequest",
    "ServiceTransport",
    "ServiceUnreachable",
    "user_headers",
]
