{{- define "vitals.configmap" -}}
{{- if not (hasKey .Values.files "vitals.yml") }}{{ fail "files has no vitals.yml: give it with --set-file 'files.vitals\\.yml=vitals.yml'" }}{{ end -}}
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "vitals.metadata" . | nindent 2 }}
data:
  {{- toYaml .Values.files | nindent 2 }}
{{- end }}

{{- define "vitals.serviceaccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "vitals.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "vitals.labels" . | nindent 4 }}
  {{- with .Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false # the pod decides
{{- end }}

{{- define "vitals.networkpolicy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "vitals.metadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "vitals.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress{{ if .Values.networkPolicy.egress }}, Egress{{ end }}]
  ingress:
    - ports: # the kubelet, whose address no peer matches
        - {port: health, protocol: TCP}
    {{- if and .Values.web.expose .Values.networkPolicy.webFrom }}
    - ports:
        - {port: web, protocol: TCP}
      from:
        {{- toYaml .Values.networkPolicy.webFrom | nindent 8 }}
    {{- end }}
  {{- with .Values.networkPolicy.egress }}
  egress:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* A pod whose verdict fails may be evicted: another one has the same verdict. */}}
{{- define "vitals.poddisruptionbudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "vitals.metadata" . | nindent 2 }}
spec:
  maxUnavailable: {{ .Values.podDisruptionBudget.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "vitals.selectorLabels" . | nindent 6 }}
{{- end }}

{{/* The page explains a failing verdict, so pods that are not ready have addresses. */}}
{{- define "vitals.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "vitals.metadata" . | nindent 2 }}
spec:
  publishNotReadyAddresses: true
  selector:
    {{- include "vitals.selectorLabels" . | nindent 4 }}
  ports:
    - {name: health, port: {{ .Values.ports.health }}, targetPort: health}
    {{- if .Values.web.expose }}
    - {name: web, port: {{ .Values.web.port }}, targetPort: web}
    {{- end }}
{{- end }}

{{- define "vitals.podmonitor" -}}
{{- if not .Values.web.expose }}{{ fail "podMonitor needs metrics that Prometheus reaches: set web.expose=true, and web.secretName for TLS and users" }}{{ end -}}
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  {{- include "vitals.metadata" . | nindent 2 }}
spec:
  selector:
    matchLabels:
      {{- include "vitals.selectorLabels" . | nindent 6 }}
  podMetricsEndpoints:
    - port: web
      path: /metrics
      interval: {{ .Values.podMonitor.interval }}
      {{- if .Values.web.secretName }}
      scheme: https
      {{- end }}
      {{- with .Values.podMonitor.tlsConfig }}
      tlsConfig:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.podMonitor.basicAuth }}
      basicAuth:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      relabelings:
        - {action: replace, targetLabel: job, replacement: vitals} # as the alerts select it
{{- end }}
