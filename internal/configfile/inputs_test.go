package configfile

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/collectors/kinds"
)

// textKeys returns the keys of the texts in a type of the configuration, as KIND.KEY.
func textKeys(typ reflect.Type, key string) []string {
	var all []string
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return textKeys(typ.Elem(), key)
	case reflect.String:
		return []string{key}
	case reflect.Struct:
		for f := range typ.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case options == "inline":
				all = append(all, textKeys(f.Type, key)...)
			case name != "":
				all = append(all, textKeys(f.Type, strings.TrimPrefix(key+"."+name, "."))...)
			}
		}
	}
	return all
}

// Each key with a text is the key of a file, or is listed here: a new key has to be decided.
func TestEveryKeyIsAFileOrNone(t *testing.T) {
	none := strings.Fields(`ip_family address username name server_name namespace namespaces context port password selector scheme role url user_id
		user_domain_name user_domain_id server region project_name project_id project_domain_name project_domain_id pid_namespace labels
		interface headers exe cloud cgroup auth_url argument application_credential_secret application_credential_name
		application_credential_id sql service protocol keystone keep expect database body write_test watch verb user_agent unix_sockets
		units type target_session_attrs subnets status sslmode send resources resource project programs notify_mode note_format names
		missing method metadata match load_balancers keys interfaces inherit https host headers_not format extensions expr excused errors
		epoch environment endpoints default_host critical crds convention capabilities body_output body_not binaries answers agents accept
		openstack.path http.url_from.path discovery.kubernetes.path netlink.socket cgroup.path`)
	all := textKeys(reflect.TypeFor[kinds.Kinds](), "")
	if len(all) < 250 {
		t.Fatalf("%d keys, want those of all kinds", len(all))
	}
	for _, key := range all {
		file := hostFile.MatchString(key) || contentFile.MatchString(key)
		if other := slices.ContainsFunc(none, func(n string) bool { return strings.HasSuffix(key, "."+n) || key == n }); file == other {
			t.Errorf("%s is a file: %t, and listed as another text: %t, want one of them", key, file, other)
		}
	}
}

// Inputs has each file and variable once, in the order of the file.
func TestInputs(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a-secret-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DB_HOST", "db.example")
	t.Setenv("EMPTY", "")
	text := `# ${DB_HOST} in a comment
server: {operator_token: "${file:` + token + `}"}
collectors:
  - name: db
    postgres: {address: "${DB_HOST}:5432", username: "v${EMPTY}", password_file: "/etc/${DB_HOST}/password", tls: {ca_file: /etc/ca.crt}}
  - name: same
    redis: {address: "unix:/run/redis.sock", password_file: /etc/db.example/password}
  - name: api
    http: {url: "http://a", user_agent: "$${DB_HOST}", header_files: {X.Token: /etc/token}, unix_socket: /run/app.sock}
  - name: certs
    certificate: {files: [/etc/tls/a.crt], key_file: /etc/tls/a.key}
  - name: check
    script: {command: [/bin/check, -v, /opt/data], inherit: [OWN, DB_HOST]}
  - name: units
    systemd: {units: [a.service]}
  - name: identity
    keystone: {cloud: a}
`
	l, errs := Load(allKinds(), NewSources(), "vitals.yml", []byte(text), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []string
	for _, in := range l.Inputs() {
		what := map[bool]string{true: "content", false: "host"}[in.Content]
		if in.Variable {
			what = map[bool]string{true: "optional", false: "variable"}[in.Optional]
		}
		got = append(got, fmt.Sprintf("%d %s %s: %s", in.Line, what, strings.ReplaceAll(in.Name, token, "TOKEN"), strings.ReplaceAll(in.Of, token, "TOKEN")))
	}
	want := []string{
		"2 content TOKEN: ${file:TOKEN}",
		"5 variable DB_HOST: ${DB_HOST}",
		"5 variable EMPTY: ${EMPTY}",
		"5 content /etc/db.example/password: password_file of the collector db",
		"5 content /etc/ca.crt: tls.ca_file of the collector db",
		"7 host /run/redis.sock: address of the collector same",
		`9 content /etc/token: header_files["X.Token"] of the collector api`,
		"9 host /run/app.sock: unix_socket of the collector api",
		"11 host /etc/tls/a.crt: files[0] of the collector certs",
		"11 host /etc/tls/a.key: key_file of the collector certs",
		"13 host /bin/check: command[0] of the collector check",
		"13 host /opt/data: command[2] of the collector check",
		"13 optional OWN: inherit[0] of the collector check",
		"15 host /run/dbus/system_bus_socket: bus of the collector units",
		"17 host /etc/openstack/clouds.yaml: cloud of the collector identity",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("inputs differ (-want +got):\n%s", diff)
	}
}
