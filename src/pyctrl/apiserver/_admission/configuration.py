"""The file of `--admission-control-config-file`: an AdmissionConfiguration with the configurations of plugins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias, cast, get_args

from pyctrl._go.text import aggregate_messages, quoted
from pyctrl._validation import names
from pyctrl.apiserver._admission._plugins.event_rate_limit import EventLimit, LimitType
from pyctrl.apiserver._admission._plugins.pod_security import PodSecurityConfiguration
from pyctrl.apiserver._admission._plugins.pod_security_policy import (
    LEVELS,
    LevelVersion,
    Policy,
    find_level,
    find_version,
)
from pyctrl.apiserver._admission._plugins.pod_toleration_restriction import PodTolerationConfiguration
from pyctrl.apiserver._admission._plugins.resource_quota import LimitedResource
from pyctrl.apiserver._admission.image_policy_webhook import ImagePolicyConfiguration
from pyctrl.apiserver._admission.webhook_plugin_configuration import (
    InvalidConfiguration,
    image_policy_of,
    webhook_users_of,
)
from pyctrl.apiserver._errors import FieldError, duplicate, invalid_value, not_supported
from pyctrl.apiserver._webhooks import WebhookUsers

__all__ = ["AdmissionConfiguration"]


_JSON: TypeAlias = Mapping[str, Any]
_ReadFile: TypeAlias = Callable[[str], bytes]
#: Adds the configuration of a plugin; the last argument reads other files.
_Reader: TypeAlias = "Callable[[AdmissionConfiguration, _JSON, _ReadFile], AdmissionConfiguration]"
_FILES: Final = (("apiserver.config.k8s.io", "v1"), ("apiserver.k8s.io", "v1alpha1"))
_POD_SECURITY: Final = tuple(("pod-security.admission.config.k8s.io", each) for each in ("v1", "v1beta1", "v1alpha1"))
_EVENT_RATE_LIMIT: Final = (("eventratelimit.admission.k8s.io", "v1alpha1"),)
_POD_TOLERATIONS: Final = (("podtolerationrestriction.admission.k8s.io", "v1alpha1"),)
_RESOURCE_QUOTA: Final = (("apiserver.config.k8s.io", "v1"),)
_WEBHOOKS: Final = (("apiserver.config.k8s.io", "v1"),)
_LIMIT_TYPES: Final[tuple[LimitType, ...]] = get_args(LimitType)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionConfiguration:
    """The configurations of admission plugins.

    Attributes:
        pod_security: Defaults and exemptions of PodSecurity.
        event_limits: The limits of EventRateLimit.
        node_selectors: The selectors of PodNodeSelector: by default, and those to which namespaces are restricted.
        pod_tolerations: Tolerations of PodTolerationRestriction for namespaces without annotations.
        limited_resources: What cannot be used without a quota for it, by the plugin ResourceQuota.
        webhook_users: The credentials for admission webhooks, by the name of the plugin.
        image_policy: The webhook of ImagePolicyWebhook.
    """

    pod_security: PodSecurityConfiguration = field(default_factory=PodSecurityConfiguration)
    event_limits: tuple[EventLimit, ...] = ()
    node_selectors: Mapping[str, str] = field(default_factory=dict)
    pod_tolerations: PodTolerationConfiguration = field(default_factory=PodTolerationConfiguration)
    limited_resources: tuple[LimitedResource, ...] = ()
    webhook_users: Mapping[str, WebhookUsers] = field(default_factory=dict)
    image_policy: ImagePolicyConfiguration | None = None

    @classmethod
    def read(cls, text: bytes, read_file: Callable[[str], bytes]) -> AdmissionConfiguration:
        """Read a configuration from YAML or JSON.

        Args:
            text: The content of the file.
            read_file: Returns the content of a file that a plugin's `path` names, relative to that of the
                configuration.

        Raises:
            ValueError: It is not an AdmissionConfiguration, or the configuration of a plugin is invalid or not
                supported. The messages are kube-apiserver's where it has one.
        """
        document = _object(text, "AdmissionConfiguration", _FILES, "")
        found = cls()
        for plugin in document.get("plugins") or ():
            name, configuration = plugin.get("name") or "", plugin.get("configuration")
            if configuration is None and not plugin.get("path"):
                continue
            if name not in _READERS:
                raise ValueError(f"a configuration of the admission plugin {name} is not supported")
            kind, versions, reader = _READERS[name]
            given = read_file(plugin["path"]) if configuration is None else configuration
            value = _object(given, kind, versions, name)
            try:
                found = reader(found, value, read_file)
            except InvalidConfiguration as error:
                raise ValueError(f"couldn't init admission plugin {quoted(name)}: {error}") from error
        return found

    def check(self, enabled: Collection[str]) -> None:
        """Check that the enabled plugins have the configuration that they need.

        Raises:
            ValueError: EventRateLimit is enabled and has no limits, or ImagePolicyWebhook and has no configuration.
        """
        if "EventRateLimit" in enabled:
            _raise("EventRateLimit", _limit_errors(self.event_limits))
        if "ImagePolicyWebhook" in enabled and self.image_policy is None:
            raise ValueError('couldn\'t init admission plugin "ImagePolicyWebhook": no config specified')


def _object(given: bytes | _JSON, kind: str, versions: Sequence[tuple[str, str]], plugin: str) -> _JSON:
    """Return a configuration of a kind."""
    from pyctrl.apiserver._serializer.yaml_reader import read_yaml  # here: most servers have no configuration

    where = f"couldn't init admission plugin {quoted(plugin)}: " if plugin else ""
    value = read_yaml(given, []) if isinstance(given, bytes) else given
    if not isinstance(value, Mapping):
        raise ValueError(f"{where}expected an object of kind {kind}")  # noqa: TRY004 (of a file's content)
    group, _, version = str(value.get("apiVersion") or "").rpartition("/")
    if not versions:
        return value  # a format without versions
    if not value.get("kind"):
        raise ValueError(f"{where}Object 'Kind' is missing")
    if (group, version) not in versions or value["kind"] != kind:
        found = f"no kind {quoted(value['kind'])} is registered for version {quoted(f'{group}/{version}')}"
        raise ValueError(f"{where}{found}")
    return cast(_JSON, value)


def _raise(plugin: str, errors: Iterator[FieldError]) -> None:
    if found := [f"{error.field}: {error.message}" for error in errors]:
        raise ValueError(f"couldn't init admission plugin {quoted(plugin)}: {aggregate_messages(found)}")


# -- PodSecurity -----------------------------------------------------------------------------------------------


def _pod_security(configuration: AdmissionConfiguration, value: _JSON, _read: _ReadFile) -> AdmissionConfiguration:
    defaults, exemptions = value.get("defaults") or {}, value.get("exemptions") or {}
    _raise("PodSecurity", _pod_security_errors(defaults, exemptions))

    def mode(name: str) -> LevelVersion:
        level, version = find_level(defaults.get(name) or "privileged"), _version(defaults, name)
        assert level is not None, "validated above"
        assert version is not None, "validated above"
        return LevelVersion(level, version)

    found = PodSecurityConfiguration(
        defaults=Policy(enforce=mode("enforce"), audit=mode("audit"), warn=mode("warn")),
        usernames=frozenset(exemptions.get("usernames") or ()),
        namespaces=frozenset(exemptions.get("namespaces") or ()),
        runtime_classes=frozenset(exemptions.get("runtimeClasses") or ()),
    )
    return replace(configuration, pod_security=found)


def _version(defaults: _JSON, mode: str) -> int | None:
    return find_version(defaults.get(f"{mode}-version") or "latest")


def _pod_security_errors(defaults: _JSON, exemptions: _JSON) -> Iterator[FieldError]:
    for mode in ("enforce", "warn", "audit"):
        level, version = defaults.get(mode) or "privileged", defaults.get(f"{mode}-version")
        if find_level(level) is None:
            yield invalid_value(f"defaults.{mode}", level, f"must be one of {', '.join(LEVELS)}")
        if _version(defaults, mode) is None:
            yield invalid_value(f"defaults.{mode}-version", version, 'must be "latest" or "v1.x"')
    yield from _exemption_errors(exemptions, "namespaces", names.label)
    yield from _exemption_errors(exemptions, "runtimeClasses", names.subdomain)
    yield from _exemption_errors(exemptions, "usernames", _username_errors)


def _username_errors(name: str) -> list[str]:
    return [] if name else ["username must not be empty"]


def _exemption_errors(exemptions: _JSON, key: str, check: Callable[[str], Sequence[str]]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, name in enumerate(exemptions.get(key) or ()):
        path = f"exemptions.{key}[{index}]"
        if why := check(name):
            yield invalid_value(path, name, ", ".join(why))
        elif name in seen:
            yield duplicate(path, name)
        seen.add(name)


# -- EventRateLimit --------------------------------------------------------------------------------------------


def _event_rate_limit(configuration: AdmissionConfiguration, value: _JSON, _read: _ReadFile) -> AdmissionConfiguration:
    limits = value.get("limits") or []
    found = tuple(
        EventLimit(
            type=cast(LimitType, each.get("type") or ""),  # checked below
            qps=each.get("qps") or 0,
            burst=each.get("burst") or 0,
            cache_size=each.get("cacheSize") or 0,
        )
        for each in limits
    )
    _raise("EventRateLimit", _limit_errors(found))
    return replace(configuration, event_limits=found)


def _limit_errors(limits: Sequence[EventLimit]) -> Iterator[FieldError]:
    if not limits:
        yield invalid_value("limits", None, "must not be empty")
    for index, limit in enumerate(limits):
        path = f"limits[{index}]"
        if limit.type not in _LIMIT_TYPES:
            yield not_supported(f"{path}.type", limit.type, _LIMIT_TYPES)
        for key, value in (("burst", limit.burst), ("qps", limit.qps)):
            if value <= 0:
                yield invalid_value(f"{path}.{key}", value, "must be positive")
        if limit.type != "Server" and limit.cache_size < 0:
            yield invalid_value(f"{path}.cacheSize", limit.cache_size, "must not be negative")


# -- others ----------------------------------------------------------------------------------------------------


def _pod_node_selector(configuration: AdmissionConfiguration, value: _JSON, _read: _ReadFile) -> AdmissionConfiguration:
    return replace(configuration, node_selectors=value.get("podNodeSelectorPluginConfig") or {})


def _pod_tolerations(configuration: AdmissionConfiguration, value: _JSON, _read: _ReadFile) -> AdmissionConfiguration:
    found = PodTolerationConfiguration(
        default=tuple(value.get("default") or ()), whitelist=tuple(value.get("whitelist") or ())
    )
    return replace(configuration, pod_tolerations=found)


def _resource_quota(configuration: AdmissionConfiguration, value: _JSON, _read: _ReadFile) -> AdmissionConfiguration:
    found = tuple(
        LimitedResource(
            group=each.get("apiGroup") or "",
            resource=each.get("resource") or "",
            contains=tuple(each.get("matchContains") or ()),
            scopes=tuple(each.get("matchScopes") or ()),
        )
        for each in value.get("limitedResources") or ()
    )
    return replace(configuration, limited_resources=found)


def _webhook_users(name: str) -> _Reader:
    def read(configuration: AdmissionConfiguration, value: _JSON, read_file: _ReadFile) -> AdmissionConfiguration:
        users = {**configuration.webhook_users, name: webhook_users_of(value, read_file)}
        return replace(configuration, webhook_users=users)

    return read


def _image_policy(configuration: AdmissionConfiguration, value: _JSON, read_file: _ReadFile) -> AdmissionConfiguration:
    return replace(configuration, image_policy=image_policy_of(value, read_file))


#: Plugin -> the kind of its configuration, its versions, and the function that adds it.
_READERS: Final[Mapping[str, tuple[str, Sequence[tuple[str, str]], _Reader]]] = {
    "PodSecurity": ("PodSecurityConfiguration", _POD_SECURITY, _pod_security),
    "EventRateLimit": ("Configuration", _EVENT_RATE_LIMIT, _event_rate_limit),
    "PodNodeSelector": ("", (), _pod_node_selector),
    "PodTolerationRestriction": ("Configuration", _POD_TOLERATIONS, _pod_tolerations),
    "ResourceQuota": ("ResourceQuotaConfiguration", _RESOURCE_QUOTA, _resource_quota),
    "ImagePolicyWebhook": ("", (), _image_policy),
    **{
        name: ("WebhookAdmissionConfiguration", _WEBHOOKS, _webhook_users(name))
        for name in ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")
    },
}
