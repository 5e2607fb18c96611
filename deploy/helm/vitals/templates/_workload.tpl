{{/* A pod of Vitals alone. Its readiness is the verdict, so that "helm install --wait" waits for it
and "kubectl get pods" shows it. */}}
{{- define "vitals.podtemplate" -}}
metadata:
  labels:
    {{- include "vitals.selectorLabels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "vitals.serviceAccountName" . }}
  automountServiceAccountToken: {{ include "vitals.automount" . }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  securityContext:
    {{- toYaml .Values.podSecurityContext | nindent 4 }}
  {{- if .Values.reports.readinessGate }}
  readinessGates:
    - {conditionType: {{ .Values.reports.readinessGate }}}
  {{- end }}
  containers:
    {{- include "vitals.container" . | nindent 4 }}
      readinessProbe:
        {{- include "vitals.aloneProbe" . | nindent 8 }}
  volumes:
    {{- include "vitals.volumes" . | nindent 4 }}
  {{- include "vitals.scheduling" . | nindent 2 }}
{{- end }}

{{/* Fields of the pod that have a value. */}}
{{- define "vitals.scheduling" -}}
{{- $set := dict }}
{{- range $key := list "hostNetwork" "hostPID" "priorityClassName" "imagePullSecrets" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
{{- with get $.Values $key }}{{ $_ := set $set $key . }}{{ end }}
{{- end }}
{{- with $set }}{{ toYaml . }}{{ end }}
{{- end }}

{{- define "vitals.workload" -}}
apiVersion: apps/v1
kind: {{ .Values.kind }}
metadata:
  {{- include "vitals.metadata" . | nindent 2 }}
spec:
  {{- if eq .Values.kind "Deployment" }}
  replicas: {{ .Values.replicas }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "vitals.selectorLabels" . | nindent 6 }}
  template:
    {{- include "vitals.podtemplate" . | nindent 4 }}
{{- end }}
