{{/* All rules as JSON, by namespace; that of a ClusterRole is empty. */}}
{{- define "vitals.rules" -}}
{{- $here := .Release.Namespace }}
{{- $rules := dict }}
{{- range regexSplit "(?m)^---\\s*$" .Values.rbac.manifest -1 }}
{{- $object := fromYaml . }}
{{- if hasKey $object "Error" }}{{ fail (printf "rbac.manifest is not the output of vitals generate rbac: %s" $object.Error) }}{{ end }}
{{- if has $object.kind (list "Role" "ClusterRole") }}
{{- $namespace := ternary "" (dig "metadata" "namespace" $here $object) (eq $object.kind "ClusterRole") }}
{{- $_ := set $rules $namespace (concat (get $rules $namespace | default list) $object.rules) }}
{{- end }}
{{- end }}
{{- with .Values.reports }}
{{- $pod := list }}
{{- if .events }}{{ $pod = append $pod (dict "apiGroups" (list "") "resources" (list "events") "verbs" (list "create" "patch")) }}{{ end }}
{{- if .readinessGate }}{{ $pod = append $pod (dict "apiGroups" (list "") "resources" (list "pods/status") "verbs" (list "patch")) }}{{ end }}
{{- if $pod }}{{ $_ := set $rules $here (concat (get $rules $here | default list) $pod) }}{{ end }}
{{- if .nodeCondition }}
{{- $node := dict "apiGroups" (list "") "resources" (list "nodes/status") "verbs" (list "patch") }}
{{- $_ := set $rules "" (append (get $rules "" | default list) $node) }}
{{- end }}
{{- end }}
{{- with .Values.rbac.clusterRules }}{{ $_ := set $rules "" (concat (get $rules "" | default list) .) }}{{ end }}
{{- with .Values.rbac.rules }}{{ $_ := set $rules $here (concat (get $rules $here | default list) .) }}{{ end }}
{{- toJson $rules }}
{{- end }}

{{/* A ClusterRole, a Role in each namespace, and their bindings. It is empty without rights. */}}
{{- define "vitals.rbac" -}}
{{- $ := . }}
{{- range $namespace, $rules := include "vitals.rules" . | fromJson }}
{{- $kind := ternary "Role" "ClusterRole" (ne $namespace "") }}
{{- $name := include "vitals.fullname" $ }}
{{- if ne $namespace $.Release.Namespace }}{{ $name = printf "%s:%s" $.Release.Namespace $name }}{{ end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ $name | quote }}
  {{- with $namespace }}
  namespace: {{ . | quote }}
  {{- end }}
  labels:
    {{- include "vitals.labels" $ | nindent 4 }}
rules:
  {{- toYaml $rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ $name | quote }}
  {{- with $namespace }}
  namespace: {{ . | quote }}
  {{- end }}
  labels:
    {{- include "vitals.labels" $ | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ $name | quote }}
subjects:
  - kind: ServiceAccount
    name: {{ include "vitals.serviceAccountName" $ }}
    namespace: {{ $.Release.Namespace }}
{{- end }}
{{- end }}
