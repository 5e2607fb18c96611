{{/* The container of Vitals: a list with one element, for containers. */}}
{{- define "vitals.container" -}}
- name: vitals
  image: {{ include "vitals.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args:
    {{- include "vitals.args" . | nindent 4 }}
  {{- with include "vitals.env" . }}
  env:
    {{- . | nindent 4 }}
  {{- end }}
  ports:
    - {name: health, containerPort: {{ .Values.ports.health }}}
    {{- if .Values.web.expose }}
    - {name: web, containerPort: {{ .Values.web.port }}}
    {{- end }}
  livenessProbe:
    {{- include "vitals.ownProbe" . | nindent 4 }}
  securityContext:
    {{- include "vitals.securityContext" . | nindent 4 }}
  resources:
    {{- toYaml .Values.resources | nindent 4 }}
  volumeMounts:
    {{- include "vitals.volumeMounts" . | nindent 4 }}
{{- end }}

{{/* The same as a native sidecar, for initContainers: it starts before the other containers, ends
after them, and does not keep a Job running. */}}
{{- define "vitals.sidecar" -}}
{{ include "vitals.container" . }}
  restartPolicy: Always
{{- end }}

{{- define "vitals.args" -}}
- run
{{- if .Values.profile }}
- {{ printf "--profile=%s" .Values.profile | quote }}
{{- range $name, $value := .Values.set }}
- {{ printf "--set=%s=%v" $name $value | quote }}
{{- end }}
{{- else }}
- --config.file=/etc/vitals/vitals.yml
{{- end }}
- --on-config-error=serve
- --probe.listen-address=:{{ .Values.ports.health }}
- --web.listen-address={{ if not .Values.web.expose }}127.0.0.1{{ end }}:{{ .Values.web.port }}
{{- if .Values.web.secretName }}
- --web.config.file=/etc/vitals-web/web.yml
{{- end }}
{{- if .Values.storage.enabled }}
- --storage.path=/var/lib/vitals/events
{{- end }}
{{- with .Values.reports }}
{{- if .events }}
- --kubernetes.events
{{- end }}
{{- if .readinessGate }}
- --kubernetes.readiness-gate={{ .readinessGate }}
{{- end }}
{{- if .nodeCondition }}
- --kubernetes.node-condition={{ .nodeCondition }}
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "vitals.env" -}}
{{- if include "vitals.reports" . -}}
- {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
- {name: POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
- {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
{{ end }}
{{- with .Values.extraEnv }}{{ toYaml . }}{{ end }}
{{- end }}

{{/* All capabilities are dropped. Kubernetes gives an added one to root only. */}}
{{- define "vitals.securityContext" -}}
{{- if and .Values.capabilities .Values.securityContext.runAsNonRoot }}
{{- fail "capabilities have an effect for root only: set securityContext.runAsNonRoot=false and securityContext.runAsUser=0, too" }}
{{- end -}}
capabilities:
  drop: [ALL]
  {{- with .Values.capabilities }}
  add: {{ toJson . }}
  {{- end }}
{{ toYaml .Values.securityContext }}
{{- end }}

{{- define "vitals.volumeMounts" -}}
- {name: vitals, mountPath: /run/vitals}
{{- if not .Values.profile }}
- {name: vitals-config, mountPath: /etc/vitals, readOnly: true}
{{- end }}
{{- if .Values.web.secretName }}
- {name: vitals-web, mountPath: /etc/vitals-web, readOnly: true}
{{- end }}
{{- if .Values.storage.enabled }}
- {name: vitals-events, mountPath: /var/lib/vitals}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The mount of the container that reports to Vitals over its socket, or runs the exec probe. */}}
{{- define "vitals.socketMount" -}}
- {name: vitals, mountPath: /run/vitals}
{{- end }}

{{/* The volumes of vitals.container. */}}
{{- define "vitals.volumes" -}}
- {name: vitals, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
{{- if not .Values.profile }}
- {name: vitals-config, configMap: {name: {{ include "vitals.configMapName" . }}}}
{{- end }}
{{- if .Values.web.secretName }}
- {name: vitals-web, secret: {secretName: {{ .Values.web.secretName }}}}
{{- end }}
{{- if .Values.storage.enabled }}
- {name: vitals-events, emptyDir: {sizeLimit: {{ .Values.storage.sizeLimit }}}}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
