{{/* The context of every template is that of this chart: "." here, and .Subcharts.vitals in a
chart that depends on it. */}}

{{- define "vitals.name" -}}
{{- .Values.nameOverride | default "vitals" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "vitals.fullname" -}}
{{- $name := include "vitals.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "vitals.selectorLabels" -}}
app.kubernetes.io/name: {{ include "vitals.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "vitals.labels" -}}
{{ include "vitals.selectorLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The metadata of an object in the namespace of the release. */}}
{{- define "vitals.metadata" -}}
name: {{ include "vitals.fullname" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "vitals.labels" . | nindent 2 }}
{{- end }}

{{- define "vitals.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end }}
{{- end }}

{{- define "vitals.configMapName" -}}
{{- .Values.existingConfigMap | default (include "vitals.fullname" .) }}
{{- end }}

{{- define "vitals.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default (include "vitals.fullname" .) }}
{{- else }}
{{- .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{/* "true" if Vitals reports to the API of Kubernetes. */}}
{{- define "vitals.reports" -}}
{{- with .Values.reports }}{{ if or .events .readinessGate .nodeCondition }}true{{ end }}{{ end }}
{{- end }}

{{/* "true" if the pod gets a token: where Vitals has rights, or reports. */}}
{{- define "vitals.automount" -}}
{{- if eq .Values.serviceAccount.automountToken "auto" -}}
{{- if or (include "vitals.reports" .) .Values.rbac.manifest .Values.rbac.clusterRules .Values.rbac.rules }}true{{ else }}false{{ end }}
{{- else -}}
{{- eq .Values.serviceAccount.automountToken "always" }}
{{- end }}
{{- end }}
