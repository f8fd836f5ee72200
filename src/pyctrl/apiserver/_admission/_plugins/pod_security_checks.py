"""The checks of the Pod Security Standards, by version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from pyctrl._go.text import quoted
from pyctrl.apiserver._admission._plugins.pod_security_policy import LevelVersion

__all__ = ["Violation", "evaluate_pod"]


_Object: TypeAlias = Mapping[str, Any]


class Violation(NamedTuple):
    """A check that forbids a pod: the reason in short, and the fields that are wrong."""

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


@dataclass(frozen=True, slots=True)
class _Pod:
    """A pod and the minor version of the standards that it is checked against."""

    metadata: _Object
    spec: _Object
    version: int

    @property
    def security(self) -> _Object:
        """The security context of the pod."""
        return self.spec.get("securityContext") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations of the pod."""
        return self.metadata.get("annotations") or {}

    @property
    def is_windows(self) -> bool:
        """Whether the pod runs on Windows, which some checks exempt."""
        return self.version >= 25 and (self.spec.get("os") or {}).get("name") == "windows"

    @property
    def is_in_user_namespace(self) -> bool:
        """Whether the pod has a user namespace of its own, for which some checks are relaxed."""
        return self.version >= 35 and self.spec.get("hostUsers") is False

    def containers(self) -> Iterator[tuple[str, _Object, _Object]]:
        """Yield the name, the container and its security context: of init, normal and ephemeral containers."""
        for field in ("initContainers", "containers", "ephemeralContainers"):
            for container in self.spec.get(field) or ():
                yield container.get("name", ""), container, container.get("securityContext") or {}


_Run: TypeAlias = Callable[[_Pod], Violation | None]


class _Check(NamedTuple):
    """One check: the first version that has it, and the check of the baseline level that it replaces."""

    since: int
    run: _Run
    overrides: str = ""


def evaluate_pod(policy: LevelVersion, metadata: _Object, spec: _Object) -> list[Violation]:
    """Return the violations of a pod, those of the baseline level first."""
    if policy.level == "privileged":
        return []
    pod = _Pod(metadata, spec, min(policy.version, _MAX_VERSION))
    restricted = _RESTRICTED if policy.level == "restricted" else {}
    active = [check for check in restricted.values() if check.since <= pod.version]
    overridden = {check.overrides for check in active}
    baseline = [each for name, each in _BASELINE.items() if each.since <= pod.version and name not in overridden]
    found = (check.run(pod) for check in (*baseline, *active))
    return [violation for violation in found if violation is not None]


def _quoted(items: Iterable[str]) -> str:
    return ", ".join(f'"{each}"' for each in items)


def _plural(word: str, items: Iterable[object]) -> str:
    return word if len(list(items)) == 1 else f"{word}s"


def _these(names: list[str]) -> str:
    """Return `container "a"` or `containers "a", "b"`."""
    return f"{_plural('container', names)} {_quoted(names)}"


def _setters(names: list[str], *, is_pod: bool) -> str:
    """Return what sets a field: the pod, containers, or both."""
    return " and ".join([*(["pod"] if is_pod else []), *([_these(names)] if names else [])])


# -- baseline ----------------------------------------------------------------------------------------------------


_APP_ARMOR_PREFIX: Final = "container.apparmor.security.beta.kubernetes.io/"


def _app_armor_profile(pod: _Pod) -> Violation | None:
    def is_wrong(profile: _Object | None) -> bool:
        return profile is not None and profile.get("type") not in ("RuntimeDefault", "Localhost")

    profile = pod.security.get("appArmorProfile")
    bad = [
        (name, each["appArmorProfile"]) for name, _, each in pod.containers() if is_wrong(each.get("appArmorProfile"))
    ]
    values = {profile.get("type", "")} if profile is not None and is_wrong(profile) else set[str]()
    values |= {each.get("type", "") for _, each in bad}
    annotations = sorted(
        f"{key}={quoted(value)}"
        for key, value in pod.annotations.items()
        if key.startswith(_APP_ARMOR_PREFIX)
        and not (value in ("", "runtime/default") or value.startswith("localhost/"))
    )
    setters = [_setters([name for name, _ in bad], is_pod=is_wrong(profile))]
    setters += [_plural("annotation", annotations)] if annotations else []
    shown = [*sorted(values), *annotations]
    if not shown:
        return None
    detail = f"{' and '.join(filter(None, setters))} must not set AppArmor profile type to {_quoted(shown)}"
    return Violation(_plural("forbidden AppArmor profile", shown), detail)


_CAPABILITIES: Final = frozenset(
    (
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    )
)


def _capabilities_baseline(pod: _Pod) -> Violation | None:
    bad = _forbidden_capabilities(pod, _CAPABILITIES)
    return Violation("non-default capabilities", bad) if bad else None


def _forbidden_capabilities(pod: _Pod, allowed: frozenset[str]) -> str:
    names: list[str] = []
    added: set[str] = set()
    for name, _, security in pod.containers():
        wrong = set((security.get("capabilities") or {}).get("add") or ()) - allowed
        added |= wrong
        names += [name] if wrong else []
    if not names:
        return ""
    return f"{_these(names)} must not include {_quoted(sorted(added))} in securityContext.capabilities.add"


def _host_namespaces(pod: _Pod) -> Violation | None:
    found = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if pod.spec.get(field)]
    return Violation("host namespaces", ", ".join(found)) if found else None


def _host_path_volumes(pod: _Pod) -> Violation | None:
    names = [each["name"] for each in pod.spec.get("volumes") or () if each.get("hostPath") is not None]
    return Violation("hostPath volumes", f"{_plural('volume', names)} {_quoted(names)}") if names else None


def _host_ports(pod: _Pod) -> Violation | None:
    names: list[str] = []
    ports: set[str] = set()
    for name, container, _ in pod.containers():
        wrong = {str(each["hostPort"]) for each in container.get("ports") or () if each.get("hostPort")}
        ports |= wrong
        names += [name] if wrong else []
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    return Violation("hostPort", f"{_these(names)} {uses} {_plural('hostPort', ports)} {', '.join(sorted(ports))}")


def _host_probes(pod: _Pod) -> Violation | None:
    names: set[str] = set()
    hosts: set[str] = set()
    for name, container, _ in pod.containers():
        lifecycle = container.get("lifecycle") or {}
        handlers = [container.get(f"{kind}Probe") for kind in ("liveness", "readiness", "startup")]
        handlers += [lifecycle.get(each) for each in ("postStart", "preStop")]
        actions = [(each or {}).get(kind) or {} for each in handlers for kind in ("httpGet", "tcpSocket")]
        wrong = {each["host"] for each in actions if each.get("host")}
        hosts |= wrong
        names |= {name} if wrong else set()
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    hosts_in_words = f"{_plural('probe or lifecycle host', hosts)} {_quoted(sorted(hosts))}"
    return Violation("probe or lifecycle host", f"{_these(sorted(names))} {uses} {hosts_in_words}")


def _privileged(pod: _Pod) -> Violation | None:
    names = [name for name, _, security in pod.containers() if security.get("privileged")]
    return Violation("privileged", f"{_these(names)} must not set securityContext.privileged=true") if names else None


def _proc_mount_baseline(pod: _Pod) -> Violation | None:
    return None if pod.is_in_user_namespace else _proc_mount(pod)


def _proc_mount(pod: _Pod) -> Violation | None:
    bad = [
        (name, each["procMount"]) for name, _, each in pod.containers() if each.get("procMount", "Default") != "Default"
    ]
    if not bad:
        return None
    kinds = _quoted(sorted({kind for _, kind in bad}))
    names = _these([name for name, _ in bad])
    return Violation("procMount", f"{names} must not set securityContext.procMount to {kinds}")


_SE_LINUX_TYPES: Final = ("", "container_t", "container_init_t", "container_kvm_t")


def _se_linux_options(pod: _Pod) -> Violation | None:
    allowed = (*_SE_LINUX_TYPES, "container_engine_t") if pod.version >= 31 else _SE_LINUX_TYPES
    options = [("", pod.security.get("seLinuxOptions") or {})]
    options += [(name, each.get("seLinuxOptions") or {}) for name, _, each in pod.containers()]
    types: set[str] = set()
    is_pod, names, parts = False, list[str](), set[str]()
    for index, (name, each) in enumerate(options):
        wrong_types = {each.get("type", "")} - set(allowed)
        wrong = {part for part in ("user", "role") if each.get(part)}
        types |= wrong_types
        parts |= wrong
        if wrong_types or wrong:
            is_pod = is_pod or not index
            names += [name] if index else []
    if not (types or parts):
        return None
    data = [f"{_plural('type', types)} {_quoted(sorted(types))}"] if types else []
    data += [f"{part} may not be set" for part in ("user", "role") if part in parts]
    setters = _setters(names, is_pod=is_pod)
    return Violation("seLinuxOptions", f"{setters} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}")


_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"


def _seccomp_profile_baseline(pod: _Pod) -> Violation | None:
    return _seccomp_types(pod) if pod.version >= 19 else _seccomp_annotations(pod)


def _seccomp_annotations(pod: _Pod) -> Violation | None:
    keys = {_SECCOMP_POD, *(f"{_SECCOMP_CONTAINER}{name}" for name, _, _ in pod.containers())}
    found = {key: pod.annotations[key] for key in keys if key in pod.annotations}
    wrong = sorted(
        f"{key}={quoted(value)}"
        for key, value in found.items()
        if not (value in ("runtime/default", "docker/default") or value.startswith("localhost/"))
    )
    if not wrong:
        return None
    return Violation("seccompProfile", f"forbidden {_plural('annotation', wrong)} {', '.join(wrong)}")


def _is_right_seccomp(profile: _Object) -> bool:
    return profile.get("type") in ("Localhost", "RuntimeDefault")


def _seccomp_types(pod: _Pod) -> Violation | None:
    profile = pod.security.get("seccompProfile")
    is_pod = profile is not None and not _is_right_seccomp(profile)
    given = [
        (name, each["seccompProfile"]) for name, _, each in pod.containers() if each.get("seccompProfile") is not None
    ]
    bad = [(name, each) for name, each in given if not _is_right_seccomp(each)]
    if not is_pod and not bad:
        return None
    types = {each.get("type", "") for _, each in bad} | ({profile.get("type", "")} if profile and is_pod else set())
    setters = _setters([name for name, _ in bad], is_pod=is_pod)
    detail = f"{setters} must not set securityContext.seccompProfile.type to {_quoted(sorted(types))}"
    return Violation("seccompProfile", detail)


#: The first version that allows sysctls -> their names.
_SYSCTLS: Final[Mapping[int, tuple[str, ...]]] = {
    0: (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
    ),
    27: ("net.ipv4.ip_local_reserved_ports",),
    29: (
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    ),
    32: ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
}


def _sysctls(pod: _Pod) -> Violation | None:
    allowed = {name for since, names in _SYSCTLS.items() if since <= pod.version for name in names}
    found = [each["name"] for each in pod.security.get("sysctls") or () if each["name"] not in allowed]
    return Violation("forbidden sysctls", ", ".join(found)) if found else None


def _windows_host_process(pod: _Pod) -> Violation | None:
    def is_set(security: _Object) -> bool:
        return bool((security.get("windowsOptions") or {}).get("hostProcess"))

    names = [name for name, _, security in pod.containers() if is_set(security)]
    setters = _setters(names, is_pod=is_set(pod.security))
    if not setters:
        return None
    return Violation("hostProcess", f"{setters} must not set securityContext.windowsOptions.hostProcess=true")


# -- restricted --------------------------------------------------------------------------------------------------


def _allow_privilege_escalation(pod: _Pod) -> Violation | None:
    if pod.is_windows:
        return None
    names = [name for name, _, security in pod.containers() if security.get("allowPrivilegeEscalation") is not False]
    if not names:
        return None
    detail = f"{_these(names)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail)


def _capabilities_restricted(pod: _Pod) -> Violation | None:
    if pod.is_windows:
        return None
    names = [
        name
        for name, _, security in pod.containers()
        if "ALL" not in ((security.get("capabilities") or {}).get("drop") or ())
    ]
    details = [f'{_these(names)} must set securityContext.capabilities.drop=["ALL"]'] if names else []
    details += [bad] if (bad := _forbidden_capabilities(pod, frozenset(("NET_BIND_SERVICE",)))) else []
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


_ALLOWED_VOLUMES: Final = frozenset(
    (
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    )
)
_RESTRICTED_VOLUMES: Final = (
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
)


def _restricted_volumes(pod: _Pod) -> Violation | None:
    bad = [
        (each["name"], next((kind for kind in _RESTRICTED_VOLUMES if each.get(kind) is not None), "unknown"))
        for each in pod.spec.get("volumes") or ()
        if not any(each.get(kind) is not None for kind in _ALLOWED_VOLUMES)
    ]
    if not bad:
        return None
    names, kinds = [name for name, _ in bad], sorted({kind for _, kind in bad})
    uses = "uses" if len(names) == 1 else "use"
    shown = f"{_plural('volume', names)} {_quoted(names)} {uses} {_plural('restricted volume type', kinds)}"
    return Violation("restricted volume types", f"{shown} {_quoted(kinds)}")


def _run_as_non_root(pod: _Pod) -> Violation | None:
    if pod.is_in_user_namespace:
        return None
    of_pod = pod.security.get("runAsNonRoot")
    given = [(name, security.get("runAsNonRoot")) for name, _, security in pod.containers()]
    setters = _setters([name for name, value in given if value is False], is_pod=of_pod is False)
    if setters:
        return Violation("runAsNonRoot != true", f"{setters} must not set securityContext.runAsNonRoot=false")
    names = [name for name, value in given if value is None and not of_pod]
    if not names:
        return None
    return Violation("runAsNonRoot != true", f"pod or {_these(names)} must set securityContext.runAsNonRoot=true")


def _run_as_user(pod: _Pod) -> Violation | None:
    if pod.is_in_user_namespace:
        return None
    names = [name for name, _, security in pod.containers() if security.get("runAsUser") == 0]
    setters = _setters(names, is_pod=pod.security.get("runAsUser") == 0)
    return Violation("runAsUser=0", f"{setters} must not set runAsUser=0") if setters else None


def _seccomp_profile_restricted(pod: _Pod) -> Violation | None:
    if pod.is_windows:
        return None
    if bad := _seccomp_types(pod):
        return bad
    if pod.security.get("seccompProfile") is not None:
        return None
    names = [name for name, _, security in pod.containers() if security.get("seccompProfile") is None]
    if not names:
        return None
    what = 'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", f"pod or {_these(names)} must set {what}")


#: The checks of the baseline level, in the order of their names upstream.
_BASELINE: Final[Mapping[str, _Check]] = {
    "appArmorProfile": _Check(0, _app_armor_profile),
    "capabilities_baseline": _Check(0, _capabilities_baseline),
    "hostNamespaces": _Check(0, _host_namespaces),
    "hostPathVolumes": _Check(0, _host_path_volumes),
    "hostPorts": _Check(0, _host_ports),
    "hostProbesAndHostLifecycle": _Check(34, _host_probes),
    "privileged": _Check(0, _privileged),
    "procMount": _Check(0, _proc_mount_baseline),
    "seLinuxOptions": _Check(0, _se_linux_options),
    "seccompProfile_baseline": _Check(0, _seccomp_profile_baseline),
    "sysctls": _Check(0, _sysctls),
    "windowsHostProcess": _Check(0, _windows_host_process),
}
#: The checks that only the restricted level has.
_RESTRICTED: Final[Mapping[str, _Check]] = {
    "allowPrivilegeEscalation": _Check(8, _allow_privilege_escalation),
    "capabilities_restricted": _Check(22, _capabilities_restricted, "capabilities_baseline"),
    "procMount_restricted": _Check(35, _proc_mount, "procMount"),
    "restrictedVolumes": _Check(0, _restricted_volumes, "hostPathVolumes"),
    "runAsNonRoot": _Check(0, _run_as_non_root),
    "runAsUser": _Check(23, _run_as_user),
    "seccompProfile_restricted": _Check(19, _seccomp_profile_restricted, "seccompProfile_baseline"),
}
_MAX_VERSION: Final = 35  # the newest version of a check; newer versions are the same
