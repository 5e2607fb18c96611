package firstconfig_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/firstconfig"
)

// shown returns the collectors in one line each.
func shown(t *testing.T, root fstest.MapFS, r firstconfig.Requests, environment ...string) []string {
	t.Helper()
	found, err := firstconfig.Find(firstconfig.Host{Root: root, Environment: environment}, r, "/etc/vitals")
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
		{"a password in a URL", nil, firstconfig.Requests{}, []string{"A_URL=postgres://u:s3cret%2F@h/d?sslmode=require"}, []string{`a postgres address: "h:5432", sslmode: require, username: u, database: d, password_file: /etc/vitals/a.password`}},
		{"a password in the query", nil, firstconfig.Requests{}, []string{"A_URL=postgres://h/d?user=u&password=s3cret"}, []string{`a postgres address: "h:5432", username: u, database: d, password_file: /etc/vitals/a.password`}},
		{"a password for two hosts", nil, firstconfig.Requests{}, []string{"A_URL=postgres://u:s3cret,@h:1,i:2/d?sslmode=disable"}, []string{`a postgres address: "h:1", sslmode: disable, username: u, database: d, password_file: /etc/vitals/a.password`}},
		{"a password in two endpoints", nil, firstconfig.Requests{}, []string{"A_ENDPOINTS=http://u:s3cret@h:1,http://u:s3cret@i:1"}, []string{`a http url: "http://h:1", basic_auth: {username: u, password_file: /etc/vitals/a.password}`}},
		{"a password in a variable that PostgreSQL cannot refer to", nil, firstconfig.Requests{}, []string{"PGHOST=h", "PGPASSWORD=s3cret"}, []string{`postgres postgres address: "h:5432", password_file: /etc/vitals/postgres.password`}},
		{"a password in a variable", nil, firstconfig.Requests{}, []string{"A_URL=redis://:s3cret@h", "A_PASSWORD=s3cret"}, []string{`a redis address: "h:6379", password: "${A_PASSWORD}"`}},
		{"a file with a password of HTTP", nil, firstconfig.Requests{}, []string{"A_URL=https://u:s3cret@h/", "A_PASSWORD_FILE=/run/p"}, []string{`a http url: "https://h/", basic_auth: {username: u, password_file: /run/p}`}},
		{"a token in place of a user", nil, firstconfig.Requests{}, []string{"A_URL=https://s3cret@h/"}, []string{`a http url: "https://h/"`}},
		{"a password without a user", nil, firstconfig.Requests{}, []string{"A_URL=https://:s3cret@h/"}, []string{`a http url: "https://h/"`}},
		{"a virtual host", nil, firstconfig.Requests{}, []string{"A_URL=rabbit://u:s3cret@h//nova", "B_URL=amqps://u:s3cret@i/v"}, []string{
			`a tcp address: "h:5672", protocol: amqp, username: u, database: /nova, password_file: /etc/vitals/a.password`,
			`b tcp address: "i:5671", protocol: amqp, tls: {}, username: u, database: v, password_file: /etc/vitals/b.password`,
		}},
		{"a login of memcached", nil, firstconfig.Requests{}, []string{"A_URL=memcached://u:s3cret@h"}, []string{`a memcached address: "h:11211", username: u, password_file: /etc/vitals/a.password`}},
		{"a memcached without a login", nil, firstconfig.Requests{}, []string{"A_URL=memcached://h", "A_PASSWORD=s3cret"}, []string{`a memcached address: "h:11211"`}},
		{"passwords that are not escaped", nil, firstconfig.Requests{}, []string{"A_URL=postgres://u:3/s3cret@h/d", "B_URL=redis://u:3?s3cret@h", "C_URL=http://u:3/s3cret,x@h", "D_URL=mysql://u:3@s3cret/x@h/d", "E_URL=redis://u:3#s3cret@h"}, nil},
		{"passwords in flags", nil, firstconfig.Requests{HTTP: []string{"https://u:s3cret@h/?a=b"}, Scrape: []string{"http://u:s3cret@i:1/metrics"}}, nil, []string{
			`h http url: "https://h/?a=b", basic_auth: {username: u, password_file: /etc/vitals/h.password}`,
			`i scrape url: "http://i:1/metrics", basic_auth: {username: u, password_file: /etc/vitals/i.password}`,
		}},
		{"@ in a path", nil, firstconfig.Requests{}, []string{"A_URL=https://h/@a"}, []string{`a http url: "https://h/@a"`}},
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

// passwords returns the passwords that get a file, by its name, and the remarks.
func passwords(t *testing.T, unusable string, environment ...string) (map[string]string, string) {
	t.Helper()
	found, err := firstconfig.Find(firstconfig.Host{Root: fstest.MapFS{}, Environment: environment}, firstconfig.Requests{}, "/etc/vitals")
	if err != nil {
		t.Fatal(err)
	}
	text := found.Config(func(string, string) string { return unusable })
	all := map[string]string{}
	for _, c := range found.Collectors {
		if p := c.Password.Value(); p != "" {
			all[c.PasswordFile()] = p
		}
	}
	if shown := text + fmt.Sprintf("%+v", found); strings.Contains(shown, "s3cret") {
		t.Errorf("Config and Find = %s, with a secret", shown)
	}
	return all, strings.Join(found.Remarks, "\n")
}

func TestPasswords(t *testing.T) {
	for _, test := range []struct {
		name, unusable string
		environment    []string
		want           map[string]string
		remark         string
	}{
		{"escaped", "", []string{"A_URL=postgres://u:s3cret%2F%20%25@h/d"}, map[string]string{"a.password": "s3cret/ %"}, ""},
		{"of two services with one name", "", []string{"A_URL=redis://:s3cret@h", "A_URI=mysql://u:s3cret2@i"}, map[string]string{"a.password": "s3cret2", "a-2.password": "s3cret"}, ""},
		{"of a variable", "", []string{"PGHOST=h", "PGPASSWORD=s3cret"}, map[string]string{"postgres.password": "s3cret"}, ""},
		{"in a file", "", []string{"A_URL=postgres://u:s3cret@h/d", "A_PASSWORD_FILE=/run/p"}, map[string]string{}, ""},
		{"in a variable to refer to", "", []string{"A_URL=redis://:s3cret@h", "A_PASSWORD=s3cret"}, map[string]string{}, ""},
		{"empty", "", []string{"A_URL=redis://:@h"}, map[string]string{}, ""},
		{"of a comment", "it is unusable", []string{"A_URL=redis://:s3cret@h"}, map[string]string{}, "a is a comment in vitals.yml: it is unusable"},
		{"with a line break", "", []string{"A_URL=redis://:s3cret%0Ax@h"}, map[string]string{}, "the password of a is not written to /etc/vitals/a.password, "},
		{"with a space at its end", "", []string{"A_URL=redis://:s3cret%20@h"}, map[string]string{}, "the password of a is not written to /etc/vitals/a.password, "},
		{"not escaped", "", []string{"A_URL=redis://u:3#s3cret@h"}, map[string]string{}, "A_URL is not used: expected a URL with a known scheme, "},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, remarks := passwords(t, test.unusable, test.environment...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("passwords (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(remarks, test.remark) || test.remark == "" && remarks != "" || strings.Contains(remarks, "s3cret") {
				t.Errorf("remarks = %q, want %q", remarks, test.remark)
			}
		})
	}
}

// A flag with a password that is not understood is a mistake, which does not quote it.
func TestPasswordsInFlags(t *testing.T) {
	for _, r := range []firstconfig.Requests{{HTTP: []string{"http://u:s3cret#x@h"}}, {HTTP: []string{"http://u:3/s3cret@h"}}, {TCP: []string{"redis://:s3cret@h"}}} {
		_, err := firstconfig.Find(firstconfig.Host{Root: fstest.MapFS{}}, r, "/")
		if err == nil || !strings.Contains(err.Error(), "without a password") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("Find = %v, want an error without the password", err)
		}
	}
}
