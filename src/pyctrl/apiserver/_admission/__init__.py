"""Admission: who may still change a write, or refuse it, between its decoding and the storage.

As in kube-apiserver a write is decoded and defaulted, then *mutated*, brought into form and validated by its kind, then
*validated* here, and stored. `AdmissionChain` is the chain; its plugins are the `Plugin`s that this server has built
in.
Nothing here waits unless something outside has to be asked: a write without webhooks is one synchronous transaction.
"""

from pyctrl.apiserver._admission.attributes import CONNECT, CREATE, DELETE, UPDATE, Attributes, Kind
from pyctrl.apiserver._admission.chain import AdmissionChain, Plugin
from pyctrl.apiserver._admission.default_chain import AdmissionPluginName, default_admission_chain

__all__ = [
    "CONNECT",
    "CREATE",
    "DELETE",
    "UPDATE",
    "AdmissionChain",
    "AdmissionPluginName",
    "Attributes",
    "Kind",
    "Plugin",
    "default_admission_chain",
]
