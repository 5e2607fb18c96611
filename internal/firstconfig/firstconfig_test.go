package firstconfig_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/firstconfig"
)

// shown returns the collectors in one line each.
func shown(t *testing.T, root fstest.MapFS, r firstconfig.Requests, environment ...string) []string {
	t.Helper()
	found, err := firstconfig.Find(firstconfig.Host{Root: root, Environment: environment}, r)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range found.Collectors {
		all = append(all, c.Name+" "+c.Kind+" "+c.Keys)
	}
	return all
}

func TestFind(t *testing.T) {
	token := fstest.MapFS{"var/run/secrets/kubernetes.io/serviceaccount/token": {Data: []byte("x")}}
	for _, test := range []struct {
		name        string
		root        fstest.MapFS
		requests    firstconfig.Requests
		environment []string
		want        []string
	}{
		{"a pod", token, firstconfig.Requests{Watch: []string{"pods"}}, []string{"KUBERNETES_SERVICE_HOST=10.0.0.1"}, []string{"kubernetes kubernetes watch: [pods]"}},
		{"a pod without a service account", nil, firstconfig.Requests{}, []string{"KUBERNETES_SERVICE_HOST=10.0.0.1"}, nil},
		{"a login of OpenStack", nil, firstconfig.Requests{}, []string{"OS_AUTH_URL=http://k/v3", "OS_PASSWORD=s3cret"}, []string{"keystone keystone "}},
		{"one server in two variables", nil, firstconfig.Requests{}, []string{"A_URL=redis://h:1/0", "B_URL=redis://h:1/1"}, []string{`a redis address: "h:1"`}},
		{"a flag and a variable", nil, firstconfig.Requests{TCP: []string{"h:1"}}, []string{"A_URL=redis://h:1/0"}, []string{`h tcp address: "h:1"`}},
		{"the first of several endpoints", nil, firstconfig.Requests{}, []string{"ETCD_ENDPOINTS=http://a:2379,http://b:2379"}, []string{`etcd http url: "http://a:2379"`}},
		{"an empty value", nil, firstconfig.Requests{}, []string{"A_URL=", "_URL=http://h/"}, nil},
		{"a text that would be expanded", nil, firstconfig.Requests{Process: []string{"a${B}"}}, nil, []string{`a-b process name: "a$${B}"`}},
		{"an address of IPv6", nil, firstconfig.Requests{}, []string{"A_URL=postgres://[2001:db8::1]/x"}, []string{`a postgres address: "[2001:db8::1]:5432", database: x`}},
		{"a Unix socket of PostgreSQL", nil, firstconfig.Requests{}, []string{"PGHOST=/run/postgresql"}, []string{"postgres postgres address: \"unix:/run/postgresql/.s.PGSQL.5432\""}},
		{"a file with a password", nil, firstconfig.Requests{}, []string{"A_URL=mysql://u:s3cret@h/d", "A_PASSWORD_FILE=/run/p"}, []string{`a tcp address: "h:3306", protocol: mysql, username: u, database: d, password_file: /run/p`}},
		{"a port of a link", nil, firstconfig.Requests{}, []string{"REDIS_HOST=h", "REDIS_PORT=tcp://10.0.0.1:6379"}, []string{`redis redis address: "h:6379"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := shown(t, test.root, test.requests, test.environment...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Find (-want +got):\n%s", diff)
			}
			if strings.Contains(strings.Join(got, "\n"), "s3cret") {
				t.Errorf("Find = %q, with a secret", got)
			}
		})
	}
}

// An unreadable host has nothing.
func TestFindOnAnEmptyHost(t *testing.T) {
	if got := shown(t, fstest.MapFS{}, firstconfig.Requests{}); got != nil {
		t.Errorf("Find = %q, want nothing", got)
	}
}
