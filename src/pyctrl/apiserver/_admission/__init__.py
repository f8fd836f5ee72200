"""Admission control: plugins that change or reject writes between decoding and storage.

As in kube-apiserver, a write is decoded and defaulted, *mutated* by admission, prepared and validated by the strategy
of its kind, *validated* by admission, and stored. `AdmissionChain` runs the built-in `Plugin`s and then the dynamic
ones: webhooks and policies.

Only webhooks wait. A write without webhooks is one synchronous transaction.
"""

from pyctrl.apiserver._admission.attributes import CONNECT, CREATE, DELETE, UPDATE, Attributes, Kind
from pyctrl.apiserver._admission.chain import AdmissionChain, Plugin
from pyctrl.apiserver._admission.configuration import AdmissionConfiguration
from pyctrl.apiserver._admission.default_chain import default_admission_chain
from pyctrl.apiserver._admission.plugin_names import AdmissionPluginName, enabled_plugins

__all__ = [
    "CONNECT",
    "CREATE",
    "DELETE",
    "UPDATE",
    "AdmissionChain",
    "AdmissionConfiguration",
    "AdmissionPluginName",
    "Attributes",
    "Kind",
    "Plugin",
    "default_admission_chain",
    "enabled_plugins",
]
