"""The files of a chart without objects: Chart.yaml, _helpers.tpl, NOTES.txt and .helmignore."""

from __future__ import annotations

import re

__all__ = ["HELMIGNORE", "chart_yaml", "helpers", "notes"]

FULLNAME = 28  # characters: Service names have at most 63, minus -controller-manager-metrics-service
_HASHED = FULLNAME - 9

_SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?")

HELMIGNORE = """\
.DS_Store
.git/
.pyctrl-chart
*.bak
*.orig
*.swp
*.tgz
*.tmp
*~
"""


def chart_yaml(name: str, app_version: str, kinds: list[str]) -> str:
    """Return Chart.yaml. The version of the chart is that of the program until its author edits it."""
    version = app_version.removeprefix("v")
    version = version if _SEMVER.fullmatch(version) else "0.1.0"
    text = f"An operator for {', '.join(kinds)}." if kinds else f"The controllers of {name}."
    return (
        f"apiVersion: v2\nname: {name}\ndescription: {text}\ntype: application\n"
        f"# The version of the chart. Increase it with every change of the chart.\nversion: {version}\n"
        f'# The version of the program, and the default tag of its image.\nappVersion: "{app_version}"\n'
    )


def helpers(name: str) -> str:
    """Return _helpers.tpl."""
    return _HELPERS.replace("CHART", name).replace("LENGTH", str(FULLNAME)).replace("HASHED", str(_HASHED))


_HELPERS = """\
{{/* The name of the program. */}}
{{- define "CHART.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* The prefix of object names: at most LENGTH characters, as names of Services have at most 63. */}}
{{- define "CHART.fullname" -}}
{{- $name := include "CHART.name" . -}}
{{- $full := .Values.fullnameOverride -}}
{{- if not $full -}}
{{- $full = printf "%s-%s" .Release.Name $name -}}
{{- if contains $name .Release.Name -}}
{{- $full = .Release.Name -}}
{{- end -}}
{{- end -}}
{{- if gt (len $full) LENGTH -}}
{{- $full = printf "%s-%s" ($full | trunc HASHED | trimSuffix "-") ($full | sha256sum | trunc 8) -}}
{{- end -}}
{{- $full -}}
{{- end }}

{{/* Labels for selectors. */}}
{{- define "CHART.selectorLabels" -}}
app.kubernetes.io/name: {{ include "CHART.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* Labels of every object. */}}
{{- define "CHART.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "CHART.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The name of the service account. */}}
{{- define "CHART.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (printf "%s-controller-manager" (include "CHART.fullname" .)) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{/* The image. A digest takes precedence over the tag. */}}
{{- define "CHART.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end }}
"""


def notes(name: str, kinds: list[str], *, has_webhooks: bool) -> str:
    """Return NOTES.txt, which helm prints after an installation."""
    text = _NOTES.replace("CHART", name)
    if kinds:
        text += _KINDS.replace("KINDS", " ".join(kinds))
    if has_webhooks:
        text += _WEBHOOKS
    return text + _METRICS.replace("CHART", name)


_NOTES = """\
{{ .Chart.Name }} {{ .Chart.AppVersion }} is installed in namespace {{ .Release.Namespace }}.

  kubectl rollout status -n {{ .Release.Namespace }} deployment/{{ include "CHART.fullname" . }}-controller-manager
  kubectl logs -n {{ .Release.Namespace }} deployment/{{ include "CHART.fullname" . }}-controller-manager
"""

_KINDS = """
{{- if and .Values.crds.enabled .Values.crds.keep }}

Uninstalling the release keeps the CustomResourceDefinitions and all of their objects. To delete both:

  kubectl delete customresourcedefinition KINDS
{{- end }}
{{- if not .Values.crds.enabled }}

The release does not include these CustomResourceDefinitions, which have to exist: KINDS.
{{- end }}
"""

_WEBHOOKS = """\
{{- if eq .Values.webhook.certificates "cert-manager" }}

The webhook certificate is issued by cert-manager, which has to be installed.
{{- end }}
"""

_METRICS = """\
{{- if and .Values.metrics.enabled .Values.metrics.secure .Values.rbac.create }}

Reading metrics requires the ClusterRole {{ include "CHART.fullname" . }}-metrics-reader. To bind it to Prometheus:

  kubectl create clusterrolebinding {{ include "CHART.fullname" . }}-metrics-reader \\
    --clusterrole {{ include "CHART.fullname" . }}-metrics-reader --serviceaccount NAMESPACE:NAME
{{- end }}
"""
