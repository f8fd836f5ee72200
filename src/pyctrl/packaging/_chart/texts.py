"""The files of a chart that are no objects: what it is called, the names that its templates use, and what is told."""

from __future__ import annotations

import re

__all__ = ["HELMIGNORE", "chart_yaml", "helpers", "notes"]

FULLNAME = 28  # letters; a Service's name has 63, and the longest ending is -controller-manager-metrics-service
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
    """Return Chart.yaml. A chart's version is that of the program until its author says something else."""
    version = app_version.removeprefix("v")
    version = version if _SEMVER.fullmatch(version) else "0.1.0"
    told = f"An operator for {', '.join(kinds)}." if kinds else f"The controllers of {name}."
    return (
        f"apiVersion: v2\nname: {name}\ndescription: {told}\ntype: application\n"
        f"# The version of the chart; raise it with every change of it.\nversion: {version}\n"
        f'# The version of the program: the tag of its image, unless values name one.\nappVersion: "{app_version}"\n'
    )


def helpers(name: str) -> str:
    """Return _helpers.tpl: what templates include."""
    return _HELPERS.replace("CHART", name).replace("LENGTH", str(FULLNAME)).replace("HASHED", str(_HASHED))


_HELPERS = """\
{{/* What the program is called. */}}
{{- define "CHART.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* What names of objects begin with: at most LENGTH letters, for names of Services have 63, with their endings. */}}
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

{{/* What objects are found by. */}}
{{- define "CHART.selectorLabels" -}}
app.kubernetes.io/name: {{ include "CHART.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* What every object has. */}}
{{- define "CHART.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "CHART.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The account that the program is. */}}
{{- define "CHART.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (printf "%s-controller-manager" (include "CHART.fullname" .)) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{/* What runs: a digest is exact, and a tag beside it says nothing. */}}
{{- define "CHART.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end }}
"""


def notes(name: str, kinds: list[str], *, has_webhooks: bool) -> str:
    """Return NOTES.txt: what somebody wants to know who has just installed it."""
    told = _NOTES.replace("CHART", name)
    if kinds:
        told += _KINDS.replace("KINDS", " ".join(kinds))
    if has_webhooks:
        told += _WEBHOOKS
    return told + _METRICS.replace("CHART", name)


_NOTES = """\
{{ .Chart.Name }} {{ .Chart.AppVersion }} runs in {{ .Release.Namespace }}.

  kubectl rollout status -n {{ .Release.Namespace }} deployment/{{ include "CHART.fullname" . }}-controller-manager
  kubectl logs -n {{ .Release.Namespace }} deployment/{{ include "CHART.fullname" . }}-controller-manager
"""

_KINDS = """
{{- if and .Values.crds.enabled .Values.crds.keep }}

Definitions stay when the release is uninstalled, because the objects of a kind go with them. To delete both:

  kubectl delete customresourcedefinition KINDS
{{- end }}
{{- if not .Values.crds.enabled }}

The release has no definitions, and waits for these: KINDS.
{{- end }}
"""

_WEBHOOKS = """\
{{- if eq .Values.webhook.certificates "cert-manager" }}

cert-manager makes the certificate of the webhooks, and has to be installed.
{{- end }}
"""

_METRICS = """\
{{- if and .Values.metrics.enabled .Values.metrics.secure .Values.rbac.create }}

Metrics are for those who have the role {{ include "CHART.fullname" . }}-metrics-reader. For the account of Prometheus:

  kubectl create clusterrolebinding {{ include "CHART.fullname" . }}-metrics-reader \\
    --clusterrole {{ include "CHART.fullname" . }}-metrics-reader --serviceaccount NAMESPACE:NAME
{{- end }}
"""
