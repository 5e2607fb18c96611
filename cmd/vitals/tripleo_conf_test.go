package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	httpkind "github.com/vitals-health/vitals/collectors/http"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/tcp"
	"github.com/vitals-health/vitals/internal/config"
)

// httpOf is the first collector of the kind http.
func httpOf(t *testing.T, c *config.Config) (kinds.Config, *httpkind.Config) {
	t.Helper()
	for _, col := range c.Collectors {
		if col.HTTP != nil {
			return col, col.HTTP
		}
	}
	t.Fatal("the profile has no HTTP collector, want one")
	return kinds.Config{}, nil
}

// The variables of TripleO's scripts keep their meaning.
func TestTripleoEnvironment(t *testing.T) {
	type settings struct {
		agent, note string
		proxy       bool
		// timeout and interval are those of the collector.
		timeout, interval time.Duration
		level             string
		output            string
	}
	usual := settings{"curl-healthcheck", "%{http_code} %{remote_address} %{time_total} seconds", false, 10 * time.Second, 10 * time.Second, "info", ""}
	change := func(f func(*settings)) settings {
		s := usual
		f(&s)
		return s
	}
	for _, c := range []struct {
		name        string
		environment []string
		want        settings
	}{
		{"nothing", nil, usual},
		{"empty ones", []string{"HEALTHCHECK_CURL_MAX_TIME=", "HEALTHCHECK_USE_PROXY=", "HEALTHCHECK_DEBUG=", "HEALTHCHECK_CURL_USER_AGENT=", "HEALTHCHECK_CURL_WRITE_OUT="}, usual},
		{"a short time", []string{"HEALTHCHECK_CURL_MAX_TIME=2.5"}, change(func(s *settings) { s.timeout = 2500 * time.Millisecond })},
		{"a long time", []string{"HEALTHCHECK_CURL_MAX_TIME=30"}, change(func(s *settings) { s.timeout, s.interval = 30*time.Second, 30*time.Second })},
		{"another agent", []string{"HEALTHCHECK_CURL_USER_AGENT=probe"}, change(func(s *settings) { s.agent = "probe" })},
		{"the other client", []string{"HEALTHCHECK_CURL_PY=", "HEALTHCHECK_CURL_USER_AGENT=probe"}, change(func(s *settings) { s.agent = "pyrequests-healthcheck" })},
		{"the other client's agent", []string{"HEALTHCHECK_CURL_PY=1", "HEALTHCHECK_CURL_PY_USER_AGENT=snake"}, change(func(s *settings) { s.agent = "snake" })},
		{"another note", []string{"HEALTHCHECK_CURL_WRITE_OUT=\\n%{http_code} after %{time_total}\\n"}, change(func(s *settings) { s.note = "\\n%{http_code} after %{time_total}\\n" })},
		{"proxies of the environment are no matter (E10)", []string{"http_proxy=http://127.0.0.1:1", "no_proxy=localhost"}, usual},
		{"proxies are wanted (E10)", []string{"http_proxy=http://127.0.0.1:1", "HEALTHCHECK_USE_PROXY=1"}, change(func(s *settings) { s.proxy = true })},
		{"proxies are wanted, with exceptions", []string{"no_proxy=localhost", "HEALTHCHECK_USE_PROXY=1"}, change(func(s *settings) { s.proxy, s.agent = true, "pyrequests-healthcheck" })},
		{"debugging", []string{"HEALTHCHECK_DEBUG=1"}, change(func(s *settings) { s.level = "debug" })},
		{"a file for the body", []string{"HEALTHCHECK_CURL_OUTPUT=/tmp/body"}, change(func(s *settings) { s.output = "/tmp/body" })},
		{"a file in the working directory", []string{"HEALTHCHECK_CURL_OUTPUT=body"}, change(func(s *settings) { s.output = workingDirectory(t) + "/body" })},
		{"the body nowhere", []string{"HEALTHCHECK_CURL_OUTPUT=/dev/null"}, usual},
		{"what means nothing", []string{"HEALTHCHECK_SCRIPTS=/nowhere"}, usual},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, pair := range c.environment {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			lab := newContainer(t)
			lab.install(t)
			p := lab.program(io.Discard, "service=keystone")
			l, errs := p.load()
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			col, http := httpOf(t, &l.Config)
			got := settings{http.UserAgent, http.NoteFormat, http.UseProxy, time.Duration(col.Timeout), time.Duration(col.Interval), p.log.Level.String(), http.BodyOutput}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(settings{})); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func workingDirectory(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Each mistake is one of the configuration, and names its source.
func TestTripleoMistakes(t *testing.T) {
	for _, c := range []struct {
		name        string
		settings    []string
		environment string
		given       func(*testing.T, *container)
		want        string
	}{
		{"no service", nil, "", nil, "no service: expected --set service=NAME, or VITALS_SET_SERVICE in the environment, such as nova-compute"},
		{"a service of another name", []string{"service=nova-compuet"}, "", nil, `--set service=nova-compuet: there is no such service: did you mean "nova-compute"?`},
		{"an empty service", []string{"service="}, "", nil, "--set service=: expected a value, or no such flag"},
		{"arguments for a service without any", []string{"service=keystone", "arguments=5000"}, "", nil, "--set arguments=5000: the service keystone takes no arguments"},
		{"a variable of another name", []string{"service=keystone", "tsl=skip"}, "", nil,
			"--set tsl=...: the profile has no such variable, expected arguments, ca_file, disabled, root, server_name, service or tls"},
		{"a policy of TLS that is none", []string{"service=keystone", "tls=no"}, "", nil, "--set tls=no: expected verify or skip"},
		{"a way to be disabled that is none", []string{"service=keystone", "disabled=yes"}, "", nil, "--set disabled=yes: expected pass or fail"},
		{"a relative file", []string{"service=keystone", "ca_file=ca.crt"}, "", nil, "--set ca_file=ca.crt: expected an absolute path"},
		{"time that is no number", []string{"service=keystone"}, "HEALTHCHECK_CURL_MAX_TIME=ten", nil, "HEALTHCHECK_CURL_MAX_TIME=ten: expected a number of seconds above 0 and at most 3600"},
		{"time without end", []string{"service=keystone"}, "HEALTHCHECK_CURL_MAX_TIME=0", nil, "HEALTHCHECK_CURL_MAX_TIME=0: expected a number of seconds above 0 and at most 3600"},
		{"a flag that is no number", []string{"service=keystone"}, "HEALTHCHECK_DEBUG=yes", nil, "HEALTHCHECK_DEBUG=yes: expected 0 or 1"},
		{"a note of nothing", []string{"service=keystone"}, "HEALTHCHECK_CURL_WRITE_OUT=%{nothing}", nil, "HEALTHCHECK_CURL_WRITE_OUT: variable \"nothing\": expected one of "},
		{"an option that is no port", []string{"service=glance-api"}, "", writing("etc/glance/glance-api.conf", "[DEFAULT]\nbind_port = x\n"), "service glance-api: ROOT/etc/glance/glance-api.conf:2: option DEFAULT.bind_port"},
		{"a file that is none", []string{"service=redis"}, "", func(t *testing.T, c *container) {
			t.Helper()
			if err := errors.Join(os.Remove(c.root("etc/redis/redis.conf")), os.Mkdir(c.root("etc/redis/redis.conf"), 0o755)); err != nil {
				t.Fatal(err)
			}
		}, "service redis: ROOT/etc/redis/redis.conf: is a directory, expected a file"},
		{"an interval that is none", []string{"service=swift-account-server"}, "",
			writing("etc/swift/account-server.conf", "[account-replicator]\ninterval = 0\n"), `service swift-account-server: ROOT/etc/swift/account-server.conf:2: account-replicator.interval "0": expected a whole number above 0`},
		{"a broken file beside others", []string{"service=ironic-pxe"}, "", writing("etc/httpd/conf.d/10-ipxe_vhost.conf", "ServerName x\n"), "service ironic-pxe: ROOT/etc/httpd/conf.d/10-ipxe_vhost.conf: no directive Listen: expected one with a port"},
		{"a password without its end", []string{"service=redis"}, "", writing("etc/redis/redis.conf", "requirepass \"s3cret\n"), `service redis: ROOT/etc/redis/redis.conf: the directive "requirepass" has a quote without its end`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if name, value, ok := strings.Cut(c.environment, "="); ok {
				t.Setenv(name, value)
			}
			lab := newContainer(t)
			lab.install(t)
			if c.given != nil {
				c.given(t, lab)
			}
			_, errs := lab.program(io.Discard, c.settings...).load()
			if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), strings.ReplaceAll(c.want, "ROOT", strings.TrimSuffix(lab.root(""), "/"))) {
				t.Errorf("load() = %v, want %s", errs, c.want)
			}
		})
	}
}

// Which certificates are verified follows from --set, and for servers with their own files
// from those files.
func TestTripleoTLS(t *testing.T) {
	const etcd = "ETCD_LISTEN_CLIENT_URLS=https://c0:2379\nETCD_TRUSTED_CA_FILE=/etc/ipa/ca.crt\nETCD_CLIENT_CERT_AUTH=true\nETCD_CERT_FILE=/c\nETCD_KEY_FILE=/k\n"
	for _, c := range []struct {
		name     string
		settings []string
		http     bool
		want     *remote.ClientTLS
	}{
		{"an API without variables", []string{"service=keystone"}, true, nil},
		{"an API behind a CA", []string{"service=keystone", "ca_file=/ca", "server_name=c0"}, true, &remote.ClientTLS{CAFile: "/ca", ServerName: "c0"}},
		{"an API that is not verified", []string{"service=keystone", "tls=skip"}, true, &remote.ClientTLS{InsecureSkipVerify: true}},
		{"an API that is verified", []string{"service=keystone", "tls=verify"}, true, nil},
		{"etcd with files of its own", []string{"service=etcd"}, false, &remote.ClientTLS{CAFile: "ROOT/etc/ipa/ca.crt", CertFile: "ROOT/c", KeyFile: "ROOT/k"}},
		{"etcd behind another CA", []string{"service=etcd", "ca_file=/ca"}, false, &remote.ClientTLS{CAFile: "/ca", CertFile: "ROOT/c", KeyFile: "ROOT/k"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newContainer(t)
			lab.install(t)
			lab.write(t, "etc/etcd/etcd.conf", etcd)
			cfg := lab.config(t, c.settings...)
			if c.http {
				_, http := httpOf(t, cfg)
				if diff := cmp.Diff(c.want, http.TLS); diff != "" {
					t.Errorf("TLS (-want +got):\n%s", diff)
				}
				return
			}
			var got *tcp.Config
			forEachKind(cfg, func(k *kinds.Kinds) {
				if k.TCP != nil {
					got = k.TCP
				}
			})
			for _, file := range []*string{&got.TLS.CAFile, &got.TLS.CertFile, &got.TLS.KeyFile} {
				*file = strings.Replace(*file, strings.TrimSuffix(lab.root(""), "/"), "ROOT", 1)
			}
			if diff := cmp.Diff(c.want, got.TLS); diff != "" {
				t.Errorf("TLS (-want +got):\n%s", diff)
			}
		})
	}
}

// A server with several addresses gets a collector for each of them.
func TestTripleoQueriesEveryAddress(t *testing.T) {
	lab := newContainer(t)
	lab.install(t)
	lab.write(t, "etc/etcd/etcd.conf", "ETCD_LISTEN_CLIENT_URLS=http://127.0.0.1:1,http://127.0.0.1:2\n")
	var got []string
	for _, col := range lab.config(t, "service=etcd").Collectors {
		if col.TCP != nil {
			got = append(got, col.Name+" "+col.TCP.Address)
		}
	}
	if diff := cmp.Diff([]string{"etcd 127.0.0.1:1", "etcd-2 127.0.0.1:2"}, got); diff != "" {
		t.Errorf("collectors (-want +got):\n%s", diff)
	}
}

// A write to a file changes the configuration of a running Vitals, also if the file was
// missing before.
func TestTripleoNoticesItsFiles(t *testing.T) {
	for _, c := range []struct{ name, service, file string }{
		{"the address of a server", "redis", "etc/redis/redis.conf"},
		{"a virtual host", "keystone", keystoneVHost},
		{"credentials that may be missing", "mariadb", "root/.my.cnf"},
		{"an image's other file", "nova-api", "etc/httpd/conf.d/10-nova_metadata_wsgi.conf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newContainer(t)
			lab.install(t)
			if c.service == "mariadb" || c.service == "nova-api" {
				removing(c.file)(t, lab)
			}
			l, errs := lab.program(io.Discard, "service="+c.service).load()
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if l.Sources.Changed() {
				t.Error("the configuration counts as changed, want unchanged")
			}
			lab.write(t, c.file, "port 1\n")
			if !l.Sources.Changed() {
				t.Errorf("%s was written, and the configuration has not changed, want a change", c.file)
			}
		})
	}
}

// A pipe in the place of a file, without a writer, blocks neither the start nor a reload.
func TestTripleoWaitsForNoFile(t *testing.T) {
	const file = "etc/redis/redis.conf"
	lab := newContainer(t)
	lab.install(t)
	l, errs := lab.program(io.Discard, "service=redis").load()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	removing(file)(t, lab)
	if err := syscall.Mkfifo(lab.root(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if !l.Sources.Changed() {
		t.Error("the file has become a pipe, and the configuration has not changed, want a change")
	}
	l, errs = lab.program(io.Discard, "service=redis").load()
	if err := errors.Join(errs...); err == nil || !strings.Contains(err.Error(), file+": is not a regular file") {
		t.Errorf("load() of a pipe = %v, want that it is not a regular file", err)
	}
	if l.Sources.Changed() {
		t.Error("the configuration counts as changed, want unchanged")
	}
}
