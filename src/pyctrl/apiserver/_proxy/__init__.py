"""Proxy of requests to other servers, with upgrades and streams, as apimachinery's `util/proxy`."""
