//go:build e2e

package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// certificateRules are the documented rules, for the collector web.
const certificateRules = "../collectors/certificate/testdata/rules.yml"

// certificateLab is a directory with an authority and certificates that openssl made.
type certificateLab struct{ dir string }

func newCertificateLab(t *testing.T) certificateLab {
	t.Helper()
	l := certificateLab{shortDirectory(t, "")}
	l.openssl(t, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "30")
	l.issue(t, "good", "ec", "30")
	l.issue(t, "expired", "ec", "0")
	l.issue(t, "other", "rsa", "30")
	return l
}

func (l certificateLab) path(name string) string { return filepath.Join(l.dir, name) }

func (l certificateLab) openssl(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("openssl", args...)
	cmd.Dir = l.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// issue makes NAME.pem and NAME.key for www.example, which the authority signs for some days.
func (l certificateLab) issue(t *testing.T, name, kind, days string) {
	t.Helper()
	key := map[string][]string{
		"ec":  {"genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", name + ".key"},
		"rsa": {"genrsa", "-traditional", "-out", name + ".key", "2048"},
	}[kind]
	l.openssl(t, key...)
	l.write(t, "names", "subjectAltName=DNS:www.example")
	l.openssl(t, "req", "-new", "-key", name+".key", "-subj", "/CN="+name, "-out", name+".csr")
	l.openssl(t, "x509", "-req", "-in", name+".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", days, "-extfile", "names", "-out", name+".pem")
}

func (l certificateLab) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(l.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// install replaces a file, as a renewal does.
func (l certificateLab) install(t *testing.T, from, to string) {
	t.Helper()
	l.write(t, "new", read(t, l.path(from)))
	if err := os.Rename(l.path("new"), l.path(to)); err != nil {
		t.Fatal(err)
	}
}

// run runs Vitals with the documented rules without their "for", and collectors by their names. It
// may not read the files of others, also as root.
func (l certificateLab) run(t *testing.T, blocks map[string]string) tcpAsking {
	t.Helper()
	config := "evaluation_interval: 200ms\nrule_files: [rules.yml]\ncollectors:\n"
	for name, block := range blocks {
		config += fmt.Sprintf("  - {name: %s, interval: 500ms, timeout: 450ms, certificate: {%s}}\n", name, strings.ReplaceAll(block, "DIR", l.dir))
	}
	l.write(t, "vitals.yml", config)
	l.write(t, "rules.yml", regexp.MustCompile(`(?m)^ *for: .*\n`).ReplaceAllString(read(t, certificateRules), ""))
	const rights = "-dac_override,-dac_read_search"
	script := "#!/bin/sh\nexec setpriv --bounding-set=" + rights + " --inh-caps=" + rights + " -- " + os.Getenv("VITALS_BIN") + ` "$@"` + "\n"
	l.write(t, "vitals", script)
	if err := os.Chmod(l.path("vitals"), 0o700); err != nil {
		t.Fatal(err)
	}
	return tcpAsking{runVitals(t, l.path("vitals"), l.path("vitals.yml"), l.dir)}
}

// fails waits until a rule fails, and the probe with it.
func (a tcpAsking) fails(t *testing.T, rule string) {
	t.Helper()
	await(t, rule+" fails", tcpWithin, func() error {
		status, body, err := a.get("/ready")
		if err == nil && (status != http.StatusServiceUnavailable || !strings.Contains(body, rule)) {
			err = fmt.Errorf("/ready = %d %q, want 503 and %s", status, body, rule)
		}
		return err
	})
}

// The verdict follows files that openssl made, and liveness does not.
func TestCertificateFiles(t *testing.T) {
	t.Parallel()
	l := newCertificateLab(t)
	healthy := func() {
		l.install(t, "good.pem", "web.pem")
		l.install(t, "good.key", "web.key")
	}
	healthy()
	a := l.run(t, map[string]string{
		"web":     "files: [DIR/web.pem], key_file: DIR/web.key, ca_file: DIR/ca.pem, names: [www.example]",
		"pattern": "files: ['DIR/*.pem'], ca_file: DIR/ca.pem",
	})
	a.staysAlive(t)
	a.sees(t, "web", "", "1 certificate, "+l.path("web.pem")+" expires ")
	a.sees(t, "pattern", "", "expired")
	a.ready(t, http.StatusOK)
	file := fmt.Sprintf(`{certificate=%q,dependency="web"}`, l.path("web.pem"))
	a.exports(t, "vitals_certificate_verified"+file+" 1", "vitals_certificate_key_matches"+file+" 1",
		fmt.Sprintf(`vitals_certificate_verified{certificate=%q,dependency="pattern"} 0`, l.path("expired.pem")))
	for _, c := range []struct {
		name         string
		breaks       func()
		reason, note string
		rule         string
	}{
		{"expired", func() { l.install(t, "expired.pem", "web.pem"); l.install(t, "expired.key", "web.key") }, "", "expired", "CertificateInvalid"},
		{"the key of another certificate", func() { l.install(t, "other.key", "web.key") }, "", "the private key is of another certificate", "CertificateHasAnotherKey"},
		{"another certificate", func() { l.install(t, "other.pem", "web.pem") }, "", "the private key is of another certificate", "CertificateHasAnotherKey"},
		{"a certificate as the key", func() { l.install(t, "good.pem", "web.key") }, "protocol", "expected a private key in PEM", "CertificateMissing"},
		{"missing", func() { remove(t, l.path("web.pem")) }, "not_found", "no such file", "CertificateMissing"},
		{"the key is missing", func() { remove(t, l.path("web.key")) }, "not_found", "no such file", "CertificateMissing"},
		{"unreadable", func() { chmod(t, l.path("web.pem"), 0) }, "forbidden", "permission denied", "CertificateMissing"},
		{"the key is unreadable", func() { chmod(t, l.path("web.key"), 0) }, "forbidden", "permission denied", "CertificateMissing"},
		{"empty", func() { l.write(t, "web.pem", "") }, "protocol", "expected certificates in PEM", "CertificateMissing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.breaks()
			a.sees(t, "web", c.reason, c.note)
			a.fails(t, c.rule)
			healthy()
			a.recovered(t, "web", time.Now(), "1 certificate, ")
			a.ready(t, http.StatusOK)
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// account makes a service account without rights and returns a kubeconfig with its token.
func (l certificateLab) account(t *testing.T, a apiServer, state, name string) string {
	t.Helper()
	a.create(t, "/api/v1/namespaces/default/serviceaccounts", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: "+name+"}}")
	t.Cleanup(func() { _, _, _ = a.send(http.MethodDelete, "/api/v1/namespaces/default/serviceaccounts/"+name, "") })
	status, body, err := a.send(http.MethodPost, "/api/v1/namespaces/default/serviceaccounts/"+name+"/token", "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest}")
	var token struct{ Status struct{ Token string } }
	if err = errors.Join(err, json.Unmarshal(body, &token)); err != nil || token.Status.Token == "" {
		t.Fatalf("POST token = %d %s, %v, want a token", status, body, err)
	}
	l.write(t, "kubeconfig", fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: '%s', certificate-authority: '%s'}}], "+
		"users: [{name: u, user: {token: %s}}], contexts: [{name: c, context: {cluster: c, user: u}}]}", a.url, filepath.Join(state, "kubernetes", "ca.crt"), token.Status.Token))
	return l.path("kubeconfig")
}

// secret returns an object with a certificate and a key.
func (l certificateLab) secret(t *testing.T, name, cert, key string) string {
	t.Helper()
	encoded := func(file string) string { return base64.StdEncoding.EncodeToString([]byte(read(t, l.path(file)))) }
	return "{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, metadata: {name: " + name + "}, data: {tls.crt: " + encoded(cert) + ", tls.key: " + encoded(key) + "}}"
}

// roleBinding gives an account the role of its name.
func roleBinding(name string) string {
	return "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: " + name + "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: " + name +
		"}, subjects: [{kind: ServiceAccount, name: " + name + ", namespace: default}]}"
}

// An account that may get one secret reads that one only, from a real API server.
func TestCertificateSecret(t *testing.T) {
	const secrets, bindings, name = "/api/v1/namespaces/default/secrets", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", "e2e-certificate"
	state := env(t).state
	server, l := newAPIServer(t, state, nil), newCertificateLab(t)
	kubeconfig := l.account(t, server, state, name)
	send := func(method, path, text string) {
		t.Helper()
		if status, body, err := server.send(method, path, text); err != nil || status > 299 {
			t.Fatalf("%s %s = %d %s, %v", method, path, status, body, err)
		}
	}
	for path, objects := range map[string][]string{
		secrets: {l.secret(t, name, "good.pem", "good.key"), l.secret(t, name+"-other", "good.pem", "good.key")},
		strings.Replace(bindings, "rolebindings", "roles", 1): {"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: " + name + "}, rules: [{apiGroups: [''], resources: [secrets], resourceNames: [" + name + "], verbs: [get]}]}"},
	} {
		for i, object := range objects {
			server.create(t, path, object)
			t.Cleanup(func() { _, _, _ = server.send(http.MethodDelete, path+"/"+[]string{name, name + "-other"}[i], "") })
		}
	}
	t.Cleanup(func() { _, _, _ = server.send(http.MethodDelete, bindings+"/"+name, "") })
	a := l.run(t, map[string]string{
		"web":   "secret: {namespace: default, name: " + name + ", kubeconfig: " + kubeconfig + "}, ca_file: DIR/ca.pem, names: [www.example]",
		"other": "secret: {namespace: default, name: " + name + "-other, kubeconfig: " + kubeconfig + "}",
	})
	a.staysAlive(t)
	label := fmt.Sprintf(`{certificate="default/%s",dependency="web"}`, name)
	t.Run("without the right", func(t *testing.T) {
		a.sees(t, "web", "forbidden", "cannot get resource")
		a.fails(t, "CertificateMissing")
	})
	t.Run("with the right", func(t *testing.T) {
		send(http.MethodPost, bindings, roleBinding(name))
		a.recovered(t, "web", time.Now(), "1 certificate, default/"+name+" expires ")
		a.ready(t, http.StatusOK)
		a.exports(t, "vitals_certificate_verified"+label+" 1", "vitals_certificate_key_matches"+label+" 1")
		a.sees(t, "other", "forbidden", "cannot get resource")
	})
	t.Run("the key of another certificate", func(t *testing.T) {
		send(http.MethodPut, secrets+"/"+name, l.secret(t, name, "good.pem", "other.key"))
		a.fails(t, "CertificateHasAnotherKey")
		send(http.MethodPut, secrets+"/"+name, l.secret(t, name, "good.pem", "good.key"))
		a.ready(t, http.StatusOK)
	})
	t.Run("expired", func(t *testing.T) {
		send(http.MethodPut, secrets+"/"+name, l.secret(t, name, "expired.pem", "expired.key"))
		a.fails(t, "CertificateInvalid")
		a.exports(t, "vitals_certificate_verified"+label+" 0", "vitals_certificate_key_matches"+label+" 1")
	})
	t.Run("missing", func(t *testing.T) {
		send(http.MethodDelete, secrets+"/"+name, "")
		a.sees(t, "web", "not_found", "not found")
		server.create(t, secrets, l.secret(t, name, "good.pem", "good.key"))
		a.recovered(t, "web", time.Now(), "1 certificate, ")
		a.ready(t, http.StatusOK)
	})
	t.Run("the right is removed", func(t *testing.T) {
		send(http.MethodDelete, bindings+"/"+name, "")
		a.sees(t, "web", "forbidden", "cannot get resource")
		a.fails(t, "CertificateMissing")
	})
	l.hidesKeys(t, a)
}

// hidesKeys searches all output of the daemon for lines of the private keys.
func (l certificateLab) hidesKeys(t *testing.T, a tcpAsking) {
	t.Helper()
	shown, err := os.ReadFile(a.log)
	for _, path := range []string{"/metrics", "/api/v1/status", "/ready?verbose", "/config"} {
		_, body, failed := a.get(path)
		shown, err = append(shown, body...), errors.Join(err, failed)
	}
	for line := range strings.Lines(read(t, l.path("good.key")) + read(t, l.path("other.key"))) {
		if line = strings.TrimSpace(line); len(line) > 20 && !strings.HasPrefix(line, "-") && strings.Contains(string(shown), line) {
			t.Errorf("a part of a private key is shown")
		}
	}
	if err != nil {
		t.Error(err)
	}
}
