{{/* The probes of the container that Vitals judges. It has no name for the port of another container. */}}
{{- define "vitals.probes" -}}
{{- if .Values.probes.manifest }}
{{- include "vitals.generatedProbes" . | fromJson | dig "workload" dict | toYaml }}
{{- else -}}
startupProbe:
  {{- include "vitals.handler" (list . "started" .Values.ports.health .Values.probes.command) | nindent 2 }}
  {{- toYaml .Values.probes.startup | nindent 2 }}
readinessProbe:
  {{- include "vitals.handler" (list . "ready" .Values.ports.health .Values.probes.command) | nindent 2 }}
  {{- toYaml .Values.probes.readiness | nindent 2 }}
livenessProbe:
  {{- include "vitals.handler" (list . "alive" .Values.ports.health .Values.probes.command) | nindent 2 }}
  {{- toYaml .Values.probes.liveness | nindent 2 }}
{{- end }}
{{- end }}

{{/* Liveness of Vitals itself. It acts before that of the container that Vitals judges. */}}
{{- define "vitals.ownProbe" -}}
{{- if .Values.probes.manifest }}
{{- (include "vitals.generatedProbes" . | fromJson).vitals.livenessProbe | toYaml }}
{{- else -}}
httpGet: {path: /-/healthy, port: health}
{{ toYaml .Values.probes.own }}
{{- end }}
{{- end }}

{{/* Readiness of a pod of Vitals alone. The exec probe is that of the image. */}}
{{- define "vitals.aloneProbe" -}}
{{- if .Values.probes.manifest }}
{{- (include "vitals.generatedProbes" . | fromJson).workload.readinessProbe | toYaml }}
{{- else -}}
{{ include "vitals.handler" (list . "ready" "health" "/healthcheck") }}
{{ toYaml .Values.probes.readiness }}
{{- end }}
{{- end }}

{{/* How the kubelet queries a state. The context is a list: that of the chart, the state, the port
of HTTP, and the path of the exec probe. While no Vitals runs, that probe passes for all but ready. */}}
{{- define "vitals.handler" -}}
{{- $values := (index . 0).Values }}
{{- $state := index . 1 }}
{{- if eq $values.probes.type "exec" -}}
exec: {command: [{{ index . 3 | quote }}, --state={{ $state }}, {{ if ne $state "ready" }}--no-daemon=pass, {{ end }}--timeout=900ms]}
{{- else if eq $values.probes.type "grpc" -}}
grpc: {port: {{ $values.ports.health }}, service: {{ $state }}}
{{- else -}}
httpGet: {path: /{{ $state }}, port: {{ index . 2 }}}
{{- end }}
{{- end }}

{{/* The two documents of probes.manifest as JSON: those of the workload, and that of Vitals. */}}
{{- define "vitals.generatedProbes" -}}
{{- $documents := regexSplit "(?m)^---\\s*$" .Values.probes.manifest -1 }}
{{- $workload := first $documents | fromYaml }}
{{- $own := last $documents | fromYaml }}
{{- if or (ne (len $documents) 2) (not (hasKey $workload "startupProbe")) (not (dig "livenessProbe" "httpGet" dict $own)) }}
{{- fail "probes.manifest is not the output of vitals generate probes without --container" }}
{{- end }}
{{- $port := int $own.livenessProbe.httpGet.port }}
{{- if ne $port (int .Values.ports.health) }}
{{- fail (printf "probes.manifest is for the port %d, and ports.health is %v: generate it with --port=%v, or with --type=exec and --vitals-port=%v" $port .Values.ports.health .Values.ports.health .Values.ports.health) }}
{{- end }}
{{- dict "workload" $workload "vitals" $own | toJson }}
{{- end }}
