package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/internal/profiles"
)

// Every form, for the configuration of each profile, passes the check of manifests: all of its
// probes are judged, without a finding.
func TestGeneratedManifestsPassTheCheck(t *testing.T) {
	for _, pr := range profiles.All() {
		dir := t.TempDir()
		show := []string{"profiles", "show", pr.Name, "--write=" + dir}
		if pr.Name == "tripleo" {
			show = append(show, "--set=service=nova-compute")
		}
		if code := run(show, &bytes.Buffer{}, &bytes.Buffer{}); code != exitOK {
			t.Fatalf("vitals %q = %d, want 0", show, code)
		}
		config := "--config.file=" + filepath.Join(dir, "vitals.yml")
		for form, flags := range map[string][]string{
			"sidecar":    {"--workload=deployment/app", "--port=9000"},
			"daemonset":  {"--web-secret=web"},
			"deployment": {"--kubernetes.events", "--kubernetes.readiness-gate=example.com/Ready"},
		} {
			t.Run(pr.Name+" "+form, func(t *testing.T) {
				args := slices.Concat([]string{"generate", "manifests", config, "--as=" + form}, flags)
				var out, errs bytes.Buffer
				if code := run(args, &out, &errs); code != exitOK {
					t.Fatalf("vitals %q = %d, %s, want 0", args, code, errs.String())
				}
				file := filepath.Join(t.TempDir(), "vitals.yaml")
				writeFile(t, file, out.String())
				var checked bytes.Buffer
				code := run([]string{"check", "rules", "--fail-on=never", "--manifest=" + file, config}, &checked, &errs)
				judged := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(file) + `: (?:ok: )?judged (\d) of (\d) probes$`).FindStringSubmatch(checked.String())
				if code != exitOK || judged == nil || judged[1] != judged[2] || strings.Count(checked.String(), file+":") != 1 {
					t.Errorf("check rules = %d, %s%s, want all probes judged, and nothing else about\n%s", code, checked.String(), errs.String(), out.String())
				}
			})
		}
	}
}

// inputsConfig uses each kind of file and variable. PATH is a file that exists.
const inputsConfig = `server: {operator_token: "${file:PATH}"}
collectors:
  - name: db
    postgres: {address: "${DB_HOST}:5432", username: v, password_file: /etc/db/password, tls: {ca_file: /etc/db/tls/ca.crt}}
  - name: cache
    redis: {address: "redis:6379", username: v, password_file: /etc/cache-password}
  - name: app
    http: {url: "http://${POD_IP}/", header_files: {X-Token: /etc/vitals/keys/app}, bearer_token_file: /run/secrets/kubernetes.io/serviceaccount/token}
  - name: local
    http: {url: "http://app/", unix_socket: /srv/app/app.sock, bearer_token_file: /srv/app/token}
  - name: exported
    textfile: {path: /var/lib/exported/*.prom}
  - name: checked
    script: {command: [/opt/check, /proc/1/stat], inherit: [CHECK_LEVEL]}
`

// generatedWithInputs returns the manifest of inputsConfig for a form, what is on stderr, and the
// configuration.
func generatedWithInputs(t *testing.T, flags ...string) (out, errs, config string) {
	t.Helper()
	dir := t.TempDir()
	token := filepath.Join(dir, "operator token")
	writeFile(t, token, "a-secret-of-a-file\n")
	t.Setenv("DB_HOST", "a-value-of-a-variable")
	t.Setenv("POD_IP", "10.0.0.1")
	config = filepath.Join(dir, "vitals.yml")
	writeFile(t, config, strings.ReplaceAll(inputsConfig, "PATH", token))
	var stdout, stderr bytes.Buffer
	args := append([]string{"generate", "manifests", "--config.file=" + config, "--namespace=shop"}, flags...)
	if code := run(args, &stdout, &stderr); code != exitOK {
		t.Fatalf("vitals %q = %d, %s, want 0", args, code, stderr.String())
	}
	return strings.ReplaceAll(stdout.String(), dir, "/DIR"), strings.ReplaceAll(stderr.String(), dir, "/DIR"), config
}

// Each file and variable is mounted or named, and none of their values is shown.
func TestGeneratedManifestsHaveTheInputs(t *testing.T) {
	out, errs, _ := generatedWithInputs(t, "--as=deployment", "--name=db-vitals")
	notes := `create the Secret of the files first: kubectl create secret generic db-vitals-files --namespace=shop ` +
		`'--from-file=0-DIR-operator-token=/DIR/operator token' --from-file=1-etc-db-password=/etc/db/password --from-file=2-etc-db-tls-ca.crt=/etc/db/tls/ca.crt ` +
		`--from-file=3-etc-cache-password=/etc/cache-password --from-file=4-etc-vitals-keys-app=/etc/vitals/keys/app --from-file=5-srv-app-token=/srv/app/token
create the Secret of the variables first: kubectl create secret generic db-vitals-env --namespace=shop --from-env-file=vitals.env; vitals.env has a line NAME=VALUE for each of DB_HOST, CHECK_LEVEL (optional)
a new /etc/cache-password needs a restart of the pod: its directory may have other files, so the file is mounted alone
a new /srv/app/token needs a restart of the pod: its directory may have other files, so the file is mounted alone
/DIR/vitals.yml:10: unix_socket of the collector local: /srv/app/app.sock is in no volume: mount it, from the host or from another container
/DIR/vitals.yml:12: path of the collector exported: /var/lib/exported/*.prom is in no volume: mount it, from the host or from another container
/DIR/vitals.yml:14: command[0] of the collector checked: /opt/check is in no volume: mount it, from the host or from another container
`
	key := regexp.MustCompile(`0-[\w.-]*-operator-token`)
	if got := key.ReplaceAllString(errs, "0-DIR-operator-token"); got != notes {
		t.Errorf("stderr = %s\nwant %s", got, notes)
	}
	if comments := "# " + strings.ReplaceAll(strings.TrimSuffix(errs, "\n"), "\n", "\n# ") + "\n"; !strings.Contains(out, comments) {
		t.Errorf("the manifest is\n%s\nwant the notes of stderr as comments", out)
	}
	for _, want := range []string{
		"{name: DB_HOST, valueFrom: {secretKeyRef: {name: db-vitals-env, key: DB_HOST}}}",
		"{name: CHECK_LEVEL, valueFrom: {secretKeyRef: {name: db-vitals-env, key: CHECK_LEVEL, optional: true}}}",
		"{name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}",
		"mountPath: /etc/db, readOnly: true}",
		"mountPath: /etc/cache-password, subPath: cache-password, readOnly: true}",
		"mountPath: /srv/app/token, subPath: token, readOnly: true}",
		"mountPath: /DIR, readOnly: true}",
		"{key: 1-etc-db-password, path: password}\n              - {key: 2-etc-db-tls-ca.crt, path: tls/ca.crt}\n",
		"              - secret:\n                  name: db-vitals-files\n                  items:\n                    - {key: 4-etc-vitals-keys-app, path: keys/app}\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the manifest lacks %q:\n%s", want, out)
		}
	}
	for _, bad := range []string{"a-secret-of-a-file", "a-value-of-a-variable", "10.0.0.1", "automountServiceAccountToken", "workingDir"} {
		if strings.Contains(out+errs, bad) {
			t.Errorf("the output has %q:\n%s%s", bad, out, errs)
		}
	}
}

// The check of manifests finds nothing about the inputs of a generated one, and each input whose
// line is removed.
func TestGeneratedManifestsWithoutAnInputAreFound(t *testing.T) {
	for form, flags := range map[string][]string{"sidecar": {"--workload=deployment/app"}, "daemonset": {}, "deployment": {}} {
		out, _, config := generatedWithInputs(t, append(flags, "--as="+form)...)
		out = strings.ReplaceAll(out, "/DIR", filepath.Dir(config))
		file := filepath.Join(t.TempDir(), "vitals.yaml")
		check := func(text string) string {
			writeFile(t, file, text)
			var checked, errs bytes.Buffer
			if code := run([]string{"check", "rules", "--config.file=" + config, "--manifest=" + file}, &checked, &errs); code != exitOK && code != exitFailing {
				t.Fatalf("check rules = %d, %s, want 0 or 1", code, errs.String())
			}
			return checked.String()
		}
		if got := check(out); strings.Contains(got, "V039") {
			t.Errorf("%s: check rules finds %s\nin %s", form, got, out)
		}
		for line, want := range map[string]string{
			"mountPath: /etc/db,":                      ":4: password_file of the collector db: /etc/db/password is in no volume of the container",
			"mountPath: /etc/db, readOnly":             ":4: tls.ca_file of the collector db: /etc/db/tls/ca.crt is in no volume of the container",
			"mountPath: /etc/cache-password,":          ":6: password_file of the collector cache: /etc/cache-password is in no volume",
			"- {key: 4-etc-vitals-keys-app,":           ":8: header_files.X-Token of the collector app: /etc/vitals/keys/app is in no volume",
			"mountPath: " + filepath.Dir(config) + ",": ":1: ${file:" + filepath.Dir(config) + "/operator token}: " + filepath.Dir(config) + "/operator token is in no volume",
			"- {name: DB_HOST,":                        ":4: ${DB_HOST}: the container has no variable DB_HOST",
			"- {name: POD_IP,":                         ":8: ${POD_IP}: the container has no variable POD_IP",
		} {
			without := regexp.MustCompile(`(?m)^.*`+regexp.QuoteMeta(line)+`.*\n`).ReplaceAllString(out, "")
			if got := check(without); !strings.Contains(got, "warning V039 input-missing") || !strings.Contains(got, "container vitals: "+config+want) {
				t.Errorf("%s without %q: check rules prints %s\nwant %s", form, line, got, want)
			}
		}
	}
}

// A name that contains a secret is refused, as the manifest would show it. Neither does the check of
// manifests show it.
func TestGeneratedManifestsShowNoSecretInAName(t *testing.T) {
	t.Setenv("API_TOKEN", "hunter2secret")
	config := filepath.Join(t.TempDir(), "vitals.yml")
	writeFile(t, config, `server: {operator_token: "${API_TOKEN}"}
collectors: [{name: app, http: {url: "http://app/", body_file: "/etc/${API_TOKEN}/body"}}]
`)
	var out, errs bytes.Buffer
	code := run([]string{"generate", "manifests", "--config.file=" + config, "--as=deployment"}, &out, &errs)
	if want := config + ":2: body_file of the collector app: the name contains a secret"; code != exitConfig || !strings.HasPrefix(errs.String(), want) || strings.Contains(out.String()+errs.String(), "hunter2secret") {
		t.Errorf("generate manifests = %d, %s%s, want %q", code, out.String(), errs.String(), want)
	}
	file := filepath.Join(t.TempDir(), "pod.yaml")
	writeFile(t, file, "kind: Pod\nspec: {containers: [{name: vitals, args: [run, --config.file=/v.yml]}]}\n")
	run([]string{"check", "rules", "--config.file=" + config, "--manifest=" + file}, &out, &errs)
	if !strings.Contains(out.String(), "the container has no variable API_TOKEN") || strings.Contains(out.String()+errs.String(), "hunter2secret") {
		t.Errorf("check rules prints %s%s, want the variable without its value", out.String(), errs.String())
	}
}
