package podmanifest

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// vitals returns the container of Vitals: a native sidecar, or the only container, whose
// readiness is then that of the workload that it judges.
func (o Options) vitals(sidecar bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nimage: %s\nimagePullPolicy: IfNotPresent\n", container, quoted(o.Image))
	if sidecar {
		b.WriteString("restartPolicy: Always\n") // of an init container: a native sidecar
	}
	b.WriteString("args:\n")
	for _, arg := range o.args() {
		fmt.Fprintf(&b, "  - %s\n", quoted(arg))
	}
	fmt.Fprintf(&b, "ports:\n  - {name: health, containerPort: %d}\n", o.Port)
	if o.WebSecret != "" {
		fmt.Fprintf(&b, "  - {name: web, containerPort: %d}\n", WebPort)
	}
	if slices.ContainsFunc(o.SecretFiles, func(file string) bool { return !path.IsAbs(file) }) {
		b.WriteString("workingDir: " + configDir + "\n")
	}
	b.WriteString(o.env())
	if !sidecar {
		p := o.Probes.Readiness
		fmt.Fprintf(&b, "readinessProbe:\n  %s\n  periodSeconds: %d\n  timeoutSeconds: %d\n  failureThreshold: %d\n", p.Handler, p.Period, p.Timeout, p.FailureThreshold)
	}
	b.WriteString(o.Probes.Vitals())
	fmt.Fprintf(&b, `securityContext:
  runAsNonRoot: true
  runAsUser: %d
  runAsGroup: %d
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
  seccompProfile: {type: RuntimeDefault}
resources:
  requests: {cpu: 10m, memory: 32Mi}
  limits: {memory: 128Mi}
volumeMounts:
  - {name: vitals-config, mountPath: /etc/vitals, readOnly: true}
  - {name: vitals-run, mountPath: /run/vitals}
`, user, user)
	if o.WebSecret != "" {
		b.WriteString("  - {name: vitals-web, mountPath: /etc/vitals-web, readOnly: true}\n")
	}
	for i, v := range o.secretVolumes() {
		at := v.dir
		if v.alone {
			file := inPod(o.SecretFiles[v.files[0]])
			at = quoted(file) + ", subPath: " + quoted(path.Base(file))
		} else {
			at = quoted(at)
		}
		fmt.Fprintf(&b, "  - {name: vitals-files-%d, mountPath: %s, readOnly: true}\n", i, at)
	}
	return b.String()
}

// args returns the arguments of Vitals. The network reaches the probes only, or the rest with
// TLS and users.
func (o Options) args() []string {
	web := []string{fmt.Sprintf("--web.listen-address=127.0.0.1:%d", LoopbackPort)}
	if o.WebSecret != "" {
		web = []string{fmt.Sprintf("--web.listen-address=:%d", WebPort), "--web.config.file=/etc/vitals-web/web.yml"}
	}
	args := []string{"run", "--config.file=" + configDir + "/" + o.Files[0].Path, "--on-config-error=serve", fmt.Sprintf("--probe.listen-address=:%d", o.Port)}
	return slices.Concat(args, web, o.Flags)
}

// indented indents the lines of a text.
func indented(by, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(by + line)
	}
	return b.String()
}

// item returns the keys of a mapping as an item of a list.
func item(text string) string { return "  - " + indented("    ", text)[len("    "):] }

// literal matches a text that a block of YAML has unchanged: lines of printable characters,
// of which the first begins with no space and the last has a character and ends with a line
// break.
var literal = regexp.MustCompile(`\A[!-~]([ -~\t]*\n)+\z`)

// block returns a text as a value of YAML, with the line break behind it.
func block(text, indent string) string {
	if !literal.MatchString(text) || strings.HasSuffix(text, "\n\n") {
		return quotedAlways(text) + "\n"
	}
	return "|\n" + indented(indent, text)
}

// plain matches a text that YAML reads as one without quotes, but for words such as true.
var plain = regexp.MustCompile(`^(--?)?[a-zA-Z/]([a-zA-Z0-9./_=:-]*[a-zA-Z0-9])?$`)

// quoted returns a text in YAML.
func quoted(s string) string {
	words := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if plain.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	return quotedAlways(s)
}

// quotedAlways returns a text in double quotes. JSON is YAML.
func quotedAlways(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("internal error: a text is no JSON: " + err.Error())
	}
	return string(text)
}
