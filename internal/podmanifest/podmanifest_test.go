package podmanifest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/internal/podmanifest"
	"github.com/vitals-health/vitals/internal/probes"
)

// options are those of a form.
func options(t *testing.T, form podmanifest.Form, files ...podmanifest.File) podmanifest.Options {
	t.Helper()
	facts := probes.Facts{Interval: time.Second, StalledAfter: 5 * time.Second, StalledAliveAfter: time.Minute, FirstResult: 5 * time.Second}
	set, err := probes.Of(facts, probes.Options{Port: 8083})
	if err != nil {
		t.Fatal(err)
	}
	return podmanifest.Options{
		Form: form, Name: "vitals", Namespace: "shop", ServiceAccount: "app", Image: "registry.example:5000/vitals:1@sha256:0",
		Kind: "StatefulSet", Workload: "db", Container: "true", Port: 8083, Probes: set,
		Files: append([]podmanifest.File{{Path: "vitals.yml", Text: "collectors: []\n"}}, files...),
	}
}

// objects returns the parsed objects by their kinds.
func objects(t *testing.T, o podmanifest.Options) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, text := range strings.Split(podmanifest.Objects(o), "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text+"\n"), &object); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		all[object["kind"].(string)] = object
	}
	return all
}

// at returns the value at a path of keys and indexes.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for _, key := range path {
		switch key := key.(type) {
		case string:
			value = value.(map[string]any)[key]
		case int:
			value = value.([]any)[key]
		}
	}
	return value
}

// pod returns the specification of the pods, and the container of Vitals.
func pod(t *testing.T, o podmanifest.Options) (spec map[string]any, vitals any) {
	t.Helper()
	all := objects(t, o)
	for kind, list := range map[string]string{"StatefulSet": "initContainers", "DaemonSet": "containers", "Deployment": "containers"} {
		if all[kind] != nil {
			spec = at(t, all[kind], "spec", "template", "spec").(map[string]any)
			return spec, at(t, spec, list, 0)
		}
	}
	t.Fatalf("the objects are %v, want a workload", all)
	return nil, nil
}

// Vitals finds each file of the configuration where it was, unchanged.
func TestFiles(t *testing.T) {
	files := []podmanifest.File{
		{"vitals.yml", "collectors: []\n"},
		{"rules/a.yml", "groups:\n  - name: a\n\n\t# a tab\n"},
		{"rules/ä b.yml", "# ümlaut\n"},
		{"a-b.yml", "no line break at the end"},
		{"a/b.yml", "  begins with spaces\n"},
		{"empty.yml", ""},
		{"crlf.yml", "a: b\r\nc: d\r\n"},
		{"blank.yml", "a: b\n\n\n"},
		{"break.yml", "\na: b\n"},
		{"marker.yml", "---\na: 'b'\n---\n\"c\": d # e\n"},
	}
	for _, form := range podmanifest.Forms() {
		o := options(t, podmanifest.Form(form), files[1:]...)
		data := objects(t, o)["ConfigMap"]["data"].(map[string]any)
		spec, _ := pod(t, o)
		var got []podmanifest.File
		for _, item := range at(t, spec, "volumes", 0, "configMap", "items").([]any) {
			text, _ := data[at(t, item, "key").(string)].(string)
			got = append(got, podmanifest.File{Path: at(t, item, "path").(string), Text: text})
		}
		if diff := cmp.Diff(files, got); diff != "" {
			t.Errorf("%s: files differ (-want +got):\n%s", form, diff)
		}
	}
}

// The container of Vitals has no right that it does not need, in every form.
func TestHardening(t *testing.T) {
	want := map[string]any{
		"runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false,
		"capabilities": map[string]any{"drop": []any{"ALL"}}, "seccompProfile": map[string]any{"type": "RuntimeDefault"},
	}
	for _, form := range podmanifest.Forms() {
		spec, vitals := pod(t, options(t, podmanifest.Form(form)))
		if diff := cmp.Diff(want, at(t, vitals, "securityContext")); diff != "" {
			t.Errorf("%s: the security context differs (-want +got):\n%s", form, diff)
		}
		if at(t, vitals, "resources", "limits", "memory") != "128Mi" {
			t.Errorf("%s: the resources are %v, want a limit of the memory", form, at(t, vitals, "resources"))
		}
		token, sidecar := spec["automountServiceAccountToken"], form == string(podmanifest.Sidecar)
		if (token == false) == sidecar {
			t.Errorf("%s without rights: automountServiceAccountToken is %v, want false, and the workload's own for a sidecar", form, token)
		}
	}
}

// A sidecar is native, and leaves the rest of the workload as it is.
func TestSidecar(t *testing.T) {
	o := options(t, podmanifest.Sidecar)
	all := objects(t, o)
	if len(all) != 2 || all["StatefulSet"] == nil {
		t.Fatalf("the objects are %v, want a ConfigMap and a StatefulSet", all)
	}
	spec, vitals := pod(t, o)
	if at(t, vitals, "restartPolicy") != "Always" || at(t, vitals, "image") != o.Image {
		t.Errorf("the container is %v, want a native sidecar with the image", vitals)
	}
	app := at(t, spec, "containers", 0).(map[string]any)
	for probe, path := range map[string]string{"startupProbe": "/started", "readinessProbe": "/ready", "livenessProbe": "/alive"} {
		if at(t, app, probe, "httpGet", "path") != path || at(t, app, probe, "httpGet", "port") != 8083 {
			t.Errorf("%s is %v, want %s at 8083", probe, app[probe], path)
		}
	}
	if app["name"] != "true" || len(app) != 4 || len(spec) != 3 {
		t.Errorf("the patch is %v, want sidecar, probes and volumes only", spec)
	}
}

// Rights, reports and a Secret add what they need.
func TestAdditions(t *testing.T) {
	o := options(t, podmanifest.DaemonSet)
	o.Rights = []kubernetes.Right{{Verb: "patch", Resource: "pods/status", Namespace: "shop"}}
	o.ReadinessGate, o.Identity, o.WebSecret, o.Flags = "example.com/Ready", true, "web", []string{"--kubernetes.readiness-gate=example.com/Ready"}
	all := objects(t, o)
	var kinds []string
	for _, kind := range []string{"ConfigMap", "ServiceAccount", "Role", "RoleBinding", "DaemonSet", "PodMonitor"} {
		if all[kind] != nil {
			kinds = append(kinds, kind)
		}
	}
	if len(all) != 6 || len(kinds) != 6 {
		t.Errorf("the objects are %v, want 6, with roles and a PodMonitor", all)
	}
	spec, vitals := pod(t, o)
	want := []any{
		"run", "--config.file=/etc/vitals/vitals.yml", "--on-config-error=serve", "--probe.listen-address=:8083",
		"--web.listen-address=:8443", "--web.config.file=/etc/vitals-web/web.yml", "--kubernetes.readiness-gate=example.com/Ready",
	}
	if diff := cmp.Diff(want, at(t, vitals, "args")); diff != "" {
		t.Errorf("arguments differ (-want +got):\n%s", diff)
	}
	if spec["automountServiceAccountToken"] != nil || at(t, spec, "readinessGates", 0, "conditionType") != "example.com/Ready" || len(at(t, vitals, "env").([]any)) != 4 {
		t.Errorf("the pod is %v, want its token, the gate and the variables", spec)
	}
	if at(t, all["PodMonitor"], "spec", "podMetricsEndpoints", 0, "tlsConfig", "ca", "secret", "name") != "web-client" {
		t.Errorf("the PodMonitor is %v, want the Secret of Prometheus", all["PodMonitor"])
	}
}

// A mount hides no file that may be there, and no mount is within another one of a Secret.
func TestFilesOfTheSecret(t *testing.T) {
	for name, c := range map[string]struct {
		files, others []string
		want          []string
	}{
		"a directory":                  {[]string{"/etc/db/password", "/etc/db/user"}, nil, []string{"/etc/db password user"}},
		"one within another":           {[]string{"/etc/db/tls/ca.crt", "/etc/db/password"}, nil, []string{"/etc/db password tls/ca.crt"}},
		"similar names":                {[]string{"/etc/db/a", "/etc/db-b/c"}, nil, []string{"/etc/db a", "/etc/db-b c"}},
		"directories of the image":     {[]string{"/etc/a", "/b", "/var/lib/c", "/usr/share/x/d", "/etc/ssl/certs/own.crt"}, nil, []string{"/b:b b", "/etc/a:a a", "/etc/ssl/certs/own.crt:own.crt own.crt", "/usr/share/x/d:d d", "/var/lib/c:c c"}},
		"a socket of another program":  {[]string{"/srv/db/password"}, []string{"/srv/db/run/db.sock"}, []string{"/srv/db/password:password password"}},
		"another directory's socket":   {[]string{"/srv/db/password"}, []string{"/srv/dbs/db.sock"}, []string{"/srv/db password"}},
		"beside the configuration":     {[]string{"/etc/vitals/keys/a", "b"}, nil, []string{"projected keys/a b"}},
		"a path above the directories": {[]string{"../own/c"}, nil, []string{"/etc/own c"}},
	} {
		o := options(t, podmanifest.Deployment)
		o.SecretFiles, o.OtherFiles = c.files, c.others
		spec, vitals := pod(t, o)
		names := map[any]string{}
		for _, m := range at(t, vitals, "volumeMounts").([]any) {
			names[at(t, m, "name")] = at(t, m, "mountPath").(string)
			if sub, ok := at(t, m, "subPath").(string); ok {
				names[at(t, m, "name")] += ":" + sub
			}
		}
		paths := func(secret any) string {
			text := ""
			for _, item := range at(t, secret, "items").([]any) {
				text += " " + at(t, item, "path").(string)
			}
			return text
		}
		var got []string
		for _, v := range at(t, spec, "volumes").([]any) {
			if projected := at(t, v, "projected"); projected != nil {
				got = append(got, "projected"+paths(at(t, projected, "sources", 1, "secret")))
			}
			if secret := at(t, v, "secret"); secret != nil {
				got = append(got, names[at(t, v, "name")]+paths(secret))
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: volumes differ (-want +got):\n%s", name, diff)
		}
	}
}
