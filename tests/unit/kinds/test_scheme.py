"""The scheme of built-in kinds imports what is asked for, and only that."""

import subprocess
import sys

import pytest

from pyctrl.api import GroupVersionKind, Unstructured
from pyctrl.errors import NotRegistered
from pyctrl.kinds import BUILTIN_KINDS, builtin_scheme
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Event
from pyctrl.kinds.events.v1 import Event as NewEvent


def run(program: str) -> str:
    """Run a program in a fresh interpreter and return what it prints."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_finds_classes_by_kind() -> None:
    """A kind is found by group and version; one that is not built in is not."""
    scheme = builtin_scheme()
    assert scheme.type_for(GroupVersionKind("apps", "v1", "Deployment")) is Deployment
    assert scheme.require(GroupVersionKind("", "v1", "Event")) is Event
    assert scheme.require(GroupVersionKind("events.k8s.io", "v1", "Event")) is NewEvent
    assert scheme.type_for(GroupVersionKind("apps", "v1beta1", "Deployment")) is None
    with pytest.raises(NotRegistered):
        scheme.require(GroupVersionKind("example.com", "v1", "Box"))


def test_knows_all_kinds_without_loading_them() -> None:
    """Membership and iteration cover every built-in kind."""
    scheme = builtin_scheme()
    assert GroupVersionKind("batch", "v1", "Job") in scheme
    assert GroupVersionKind("batch", "v1", "Box") not in scheme
    assert set(scheme) == set(BUILTIN_KINDS)


def test_decodes_by_the_kind_in_the_object() -> None:
    """A built-in object is decoded to its class, any other stays untyped."""
    scheme = builtin_scheme()
    assert isinstance(scheme.decode(b'{"apiVersion":"apps/v1","kind":"Deployment"}'), Deployment)
    assert isinstance(scheme.decode(b'{"apiVersion":"example.com/v1","kind":"Box"}'), Unstructured)


def test_asking_for_a_kind_imports_its_group_only() -> None:
    """Neither the table nor another group's kind imports the big groups."""
    loaded = run(
        "import sys; from pyctrl.kinds import builtin_scheme; from pyctrl.api import GroupVersionKind as G\n"
        "builtin_scheme().require(G('coordination.k8s.io', 'v1', 'Lease'))\n"
        "print(*sorted(name for name in sys.modules if name.startswith('pyctrl.kinds.') and name.endswith('.v1')))"
    )
    assert loaded == "pyctrl.kinds.coordination.v1"


def test_importing_a_group_builds_none_of_its_models() -> None:
    """What takes time and memory, pydantic's validators, is made for a kind that is used, and for what is in it."""
    told = run(
        "import pyctrl.kinds.apps.v1 as apps\nfrom pyctrl.kinds.core.v1 import Node, Secret\n"
        "from pyctrl.api import Model\n"
        "def below(model):\n"
        "    return {*model.__subclasses__()}.union(*map(below, model.__subclasses__()))\n"
        "def built():\n"
        "    kinds = (each for each in below(Model) if each.__module__.startswith('pyctrl.kinds'))\n"
        "    return sum(each.__pydantic_complete__ for each in kinds)\n"
        "before = built()\napps.Deployment()\n"
        "print(len(below(Model)) > 200, before, 0 < built() < 150)\n"
        "print(*(each.__pydantic_complete__ for each in (apps.DaemonSet, apps.StatefulSet, Node, Secret)))"
    )
    assert told == "True 0 True\nFalse False False False"
