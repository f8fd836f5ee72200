"""Validation of the security contexts of pods and containers, and of what an operating system allows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
    too_long,
)
from pyctrl.apiserver._registry.field_validation import descending_path, in_range, invalid_name, text_of
from pyctrl.apiserver._registry.go_structs import go_struct
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_container_security", "validate_host_process", "validate_os", "validate_pod_security"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_LARGEST_ID = 2147483647  # of users and groups
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_LONGEST_PROFILE = 4095  # PATH_MAX - 1
_LONGEST_SYSCTL = 253
_SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = re.compile(rf"({_SYSCTL_SEGMENT}[\./])*{_SYSCTL_SEGMENT}")
_NO_SYSCTL = f"must have at most 253 characters and match regex ^({_SYSCTL_SEGMENT}[\\./])*{_SYSCTL_SEGMENT}$"
_IPC_SYSCTLS = ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")
_CONTEXTS_OF_PODS = (  # that Windows does not have, in the order of kube-apiserver's errors
    *("appArmorProfile", "seLinuxOptions", "/hostUsers", "/hostPID", "/hostIPC", "seccompProfile", "fsGroup"),
    *("fsGroupChangePolicy", "sysctls", "/shareProcessNamespace", "runAsUser", "runAsGroup", "supplementalGroups"),
    *("supplementalGroupsPolicy", "seLinuxChangePolicy"),
)
_CONTEXTS_OF_CONTAINERS = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged"),
    *("allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
)
_LONGEST_GMSA = 64 * 1024
_NET_BIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_DOMAIN = re.compile(
    r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*"
)


def validate_pod_security(spec: _Part, path: str) -> _Errors:
    """Check the security context of a pod."""
    context, where = spec.get("securityContext"), f"{path}.securityContext"
    if context is None:
        return
    yield from _ids(context, where, "fsGroup", "runAsUser", "runAsGroup")
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        yield from in_range(group, 0, _LARGEST_ID, f"{where}.supplementalGroups[{index}]")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid_value(f"{where}.shareProcessNamespace", True, why)
    yield from _sysctls(context.get("sysctls") or (), spec, f"{where}.sysctls")
    yield from _one_of(context, "fsGroupChangePolicy", ("Always", "OnRootMismatch"), where)
    yield from _profiles(context, where)
    yield from _one_of(context, "supplementalGroupsPolicy", ("Merge", "Strict"), where)
    yield from _one_of(context, "seLinuxChangePolicy", ("Recursive",), where)


def validate_container_security(context: _Part, path: str, *, host_users: bool) -> _Errors:
    """Check the security context of a container."""
    yield from _ids(context, path, "runAsUser", "runAsGroup")
    yield from _one_of(context, "procMount", ("Default", "Unmasked"), path)
    if host_users and context.get("procMount") == "Unmasked":
        yield invalid_value(f"{path}.procMount", "Unmasked", "`hostUsers` must be false to use `Unmasked`")
    yield from _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        why, shown = "cannot set `allowPrivilegeEscalation` to false and ", go_struct("SecurityContext", context)
        if context.get("privileged"):
            yield invalid_value(path, shown, f"{why}`privileged` to true")
        for each in (context.get("capabilities") or {}).get("add") or ():
            if each == "CAP_SYS_ADMIN":
                yield invalid_value(path, shown, f"{why}`capabilities.Add` CAP_SYS_ADMIN")
    yield from _windows_options(context.get("windowsOptions"), f"{path}.windowsOptions")
    yield from _app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def _ids(context: _Part, path: str, *keys: str) -> _Errors:
    for key in keys:
        if context.get(key) is not None:
            yield from in_range(context[key], 0, _LARGEST_ID, f"{path}.{key}")


def _one_of(values: _Part, key: str, allowed: Sequence[str], path: str) -> _Errors:
    if values.get(key) is not None and values[key] not in allowed:
        yield not_supported(f"{path}.{key}", values[key], allowed)


def _profiles(context: _Part, path: str) -> _Errors:
    yield from _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    yield from _windows_options(context.get("windowsOptions"), f"{path}.windowsOptions")
    yield from _app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def _sysctls(sysctls: Sequence[_Part], spec: _Part, path: str) -> _Errors:
    seen: set[str] = set()
    for index, each in enumerate(sysctls):
        name, where = text_of(each, "name"), f"{path}[{index}].name"
        if not name:
            yield required(where)
        elif len(name) > _LONGEST_SYSCTL or not _SYSCTL.fullmatch(name):
            yield invalid_value(where, name, _NO_SYSCTL)
        elif name in seen:
            yield duplicate(where, name)
        dotted = name.replace("/", ".")
        if spec.get("hostNetwork") and dotted.startswith("net."):
            yield invalid_value(where, name, "may not be specified when 'hostNetwork' is true")
        elif spec.get("hostIPC") and dotted.startswith(_IPC_SYSCTLS):
            yield invalid_value(where, name, "may not be specified when 'hostIPC' is true")
        seen.add(name)


def _seccomp(profile: _Part | None, path: str) -> _Errors:
    if profile is None:
        return
    kind, local = text_of(profile, "type"), profile.get("localhostProfile")
    if not kind:
        yield required(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in _PROFILES:
        yield not_supported(f"{path}.type", kind, _PROFILES)
    if kind == "Localhost":
        if local is None:
            yield required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
        else:
            yield from descending_path(local, f"{path}.localhostProfile")
    elif local is not None:
        shown = {"Type": kind, "LocalhostProfile": local}
        yield invalid_value(f"{path}.localhostProfile", shown, "can only be set when seccomp type is Localhost")


def _app_armor(profile: _Part | None, path: str) -> _Errors:
    if profile is None:
        return
    kind, local, where = text_of(profile, "type"), profile.get("localhostProfile"), f"{path}.localhostProfile"
    if kind == "Localhost":
        if local is None:
            yield required(where, "must be set when AppArmor type is Localhost")
            return
        if local != local.strip():
            yield invalid_value(where, local, "must not be padded with whitespace")
        elif not local:
            yield required(where, "must be set when AppArmor type is Localhost")
        if len(local) > _LONGEST_PROFILE:
            yield too_long(where, _LONGEST_PROFILE)
    elif kind in _PROFILES:
        if local is not None:
            yield invalid_value(where, local, "can only be set when AppArmor type is Localhost")
    elif not kind:
        yield required(f"{path}.type", "type is required when appArmorProfile is set")
    else:
        yield not_supported(f"{path}.type", kind, _PROFILES)


# -- Windows -----------------------------------------------------------------------------------------------------


def _windows_options(options: _Part | None, path: str) -> _Errors:
    if options is None:
        return
    if (name := options.get("gmsaCredentialSpecName")) is not None:
        yield from invalid_name(names.subdomain, name, f"{path}.gmsaCredentialSpecName")
    if (spec := options.get("gmsaCredentialSpec")) is not None:
        where = f"{path}.gmsaCredentialSpec"
        if not spec:
            yield invalid_value(where, spec, "gmsaCredentialSpec cannot be an empty string")
        elif len(spec) > _LONGEST_GMSA:
            yield invalid_value(where, spec, "gmsaCredentialSpec size must be under 64 KiB")
    if (user := options.get("runAsUserName")) is not None:
        where = f"{path}.runAsUserName"
        yield from (invalid_value(where, user, f"runAsUserName{why}") for why in _user_errors(user))


def _user_errors(text: str) -> Iterator[str]:
    parts = text.split("\\")
    if not text:
        yield " cannot be an empty string"
    elif re.search(r"[\x00-\x1f\x7f]", text):
        yield " cannot contain control characters"
    elif len(parts) > 2:
        yield " cannot contain more than one backslash"
    else:
        domain, user = parts if len(parts) == 2 else (None, parts[0])
        if domain is not None and len(domain) >= 256:
            yield "'s Domain length must be under 256 characters"
        if domain is not None and not (_NET_BIOS.fullmatch(domain) or _DNS_DOMAIN.fullmatch(domain)):
            yield "'s Domain doesn't match the NetBios nor the DNS format"
        if not user:
            yield "'s User cannot be empty"
        elif len(user) > 104:
            yield "'s User length must not be longer than 104 characters"
        if re.fullmatch(r"[. ]+", user):
            yield "'s User cannot contain only periods or spaces"
        if re.search(r'["/\\:;|=,+*?<>@\[\]]', user):
            yield "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


def validate_host_process(spec: _Part, containers: Sequence[tuple[str, _Part]], path: str) -> _Errors:
    """Check that all containers of a pod are host process containers, or none."""
    of_pod = _host_process(spec)
    count = 0
    for where, container in containers:
        own = _host_process(container)
        if of_pod is not None and own is not None and of_pod != own:
            shown = "true" if of_pod else "false"
            why = f"pod hostProcess value must be identical if both are specified, was {shown}"
            yield invalid_value(f"{where}.securityContext.windowsOptions.hostProcess", own, why)
        count += bool(of_pod if own is None else own)
    if count and count != len(containers):
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        yield invalid_value(path, "", why)
    if count and not spec.get("hostNetwork"):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid_value(f"{path}.hostNetwork", False, why)


def _host_process(holder: _Part) -> bool | None:
    options = (holder.get("securityContext") or {}).get("windowsOptions") or {}
    found: bool | None = options.get("hostProcess")
    return found


def validate_os(spec: _Part, containers: Sequence[tuple[str, _Part]], path: str) -> _Errors:
    """Check the operating system of a pod, and that its security contexts have nothing of another one."""
    system = spec.get("os")
    if system is None:
        return
    name = text_of(system, "name")
    if not name:
        yield required(f"{path}.os.name")
    elif name not in ("linux", "windows"):
        yield not_supported(f"{path}.os", name, ("linux", "windows"))
    elif name == "linux":
        yield from _foreign(
            spec,
            containers,
            path,
            ("windowsOptions",),
            ("windowsOptions",),
            "windows options cannot be set for a linux pod",
        )
    else:
        yield from _foreign(
            spec, containers, path, _CONTEXTS_OF_PODS, _CONTEXTS_OF_CONTAINERS, "cannot be set for a windows pod"
        )


def _foreign(
    spec: _Part,
    containers: Sequence[tuple[str, _Part]],
    path: str,
    of_pods: Sequence[str],
    of_containers: Sequence[str],
    why: str,
) -> _Errors:
    context = spec.get("securityContext") or {}
    for key in of_pods:
        if key.startswith("/"):
            value, where = spec.get(key[1:]), f"{path}.{key[1:]}"
        else:
            value, where = context.get(key), f"{path}.securityContext.{key}"
        is_set = value is not None and (value is not False or key not in ("/hostPID", "/hostIPC"))
        if is_set and not (key == "sysctls" and not value):
            yield field_forbidden(where, why)
    for where, container in containers:
        own = container.get("securityContext") or {}
        for key in of_containers:
            if own.get(key) is not None:
                yield field_forbidden(f"{where}.securityContext.{key}", why)
