//go:build e2e

package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// apiServer is the API server that kubernetes.sh has started, to a user who may do
// everything there.
type apiServer struct {
	url    string
	client *http.Client
}

// newAPIServer is the one with its state in the directory; dial may lead elsewhere than
// into this network.
func newAPIServer(t *testing.T, state string, dial func(ctx context.Context, network, address string) (net.Conn, error)) apiServer {
	t.Helper()
	usesStacks(t)
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM([]byte(read(t, filepath.Join(state, "kubernetes", "ca.crt")))) {
		t.Fatal("the API server's authority is no certificate")
	}
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: authority}}
	t.Cleanup(transport.CloseIdleConnections)
	return apiServer{"https://127.0.0.1:" + apiPort(), &http.Client{Transport: transport, Timeout: 10 * time.Second}}
}

// apiPort returns the port of the API server on loopback.
func apiPort() string { return cmp.Or(os.Getenv("VITALS_E2E_API_PORT"), "26443") }

// send sends a request, with YAML or nothing, and returns status and body.
func (a apiServer) send(method, path, text string) (int, []byte, error) {
	return a.sendAs(method, path, text, "application/yaml")
}

// sendAs is send with another type of content.
func (a apiServer) sendAs(method, path, text, contentType string) (int, []byte, error) {
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	req.Header = http.Header{"Authorization": {"Bearer admin-test-token"}, "Content-Type": {contentType}, "Accept": {"application/json"}}
	res, err := a.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, bytes.TrimSpace(body), err
}

// get reads an object into a value.
func (a apiServer) get(path string, into any) error {
	status, body, err := a.send(http.MethodGet, path, "")
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("GET %s = %d %s, want 200", path, status, body)
	}
	return json.Unmarshal(body, into)
}

// create makes an object, which has to be without a mistake.
func (a apiServer) create(t *testing.T, path, text string) {
	t.Helper()
	if status, body, err := a.send(http.MethodPost, path+"?fieldValidation=Strict", text); err != nil || status != http.StatusCreated {
		t.Fatalf("POST %s = %d %s, %v, want 201\n%s", path, status, body, err, text)
	}
}

// makeNamespace makes a namespace with labels, a mapping in YAML, until the end of the test. The
// controller that would end it does not run, so the test finishes it: the next run makes it again.
func (a apiServer) makeNamespace(t *testing.T, name, labels string) {
	t.Helper()
	path, text := "/api/v1/namespaces/"+name, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+", labels: "+labels+"}, spec: {finalizers: []}}"
	t.Cleanup(func() {
		_, _, _ = a.send(http.MethodDelete, path+"/events", "")
		_, _, _ = a.send(http.MethodDelete, path, "")
		_, _, _ = a.send(http.MethodPut, path+"/finalize", text)
		if status, body, err := a.send(http.MethodGet, path, ""); err != nil || status != http.StatusNotFound {
			t.Errorf("GET %s after the test = %d %s, %v, want 404", path, status, body, err)
		}
	})
	a.create(t, "/api/v1/namespaces", text)
}

// identity holds the fields that determine the path of an object.
type identity struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name, Namespace string }
}

// collection is the path to which such objects are posted.
func (a apiServer) collection(o identity) (string, error) {
	group := "/apis/" + o.APIVersion
	if !strings.Contains(o.APIVersion, "/") {
		group = "/api/" + o.APIVersion
	}
	type resource struct {
		Name, Kind string
		Namespaced bool
	}
	var served struct{ Resources []resource }
	if err := a.get(group, &served); err != nil {
		return "", err
	}
	i := slices.IndexFunc(served.Resources, func(r resource) bool { return r.Kind == o.Kind && !strings.Contains(r.Name, "/") })
	if i < 0 {
		return "", fmt.Errorf("%s has no kind %s", o.APIVersion, o.Kind)
	}
	if r := served.Resources[i]; !r.Namespaced {
		return group + "/" + r.Name, nil
	} else if o.Metadata.Namespace == "" {
		return group + "/namespaces/default/" + r.Name, nil
	} else {
		return group + "/namespaces/" + o.Metadata.Namespace + "/" + r.Name, nil
	}
}

// Every object of deploy/kubernetes is one that the API server accepts, with all its
// fields. A server-side dry run does all but keep it.
func TestManifestsAreAccepted(t *testing.T) {
	a := newAPIServer(t, env(t).state, nil)
	files, err := filepath.Glob("../deploy/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("deploy/kubernetes has %q, %v", files, err)
	}
	for _, file := range files {
		for _, text := range strings.Split(read(t, file), "\n---\n") {
			var o identity
			if err := yaml.Unmarshal([]byte(text), &o); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			t.Run(filepath.Base(file)+"/"+o.Kind, func(t *testing.T) { a.accepts(t, o, text) })
		}
	}
}

// accepts posts an object unchanged, and again with an unknown field.
func (a apiServer) accepts(t *testing.T, o identity, text string) {
	t.Helper()
	path, err := a.collection(o)
	if err != nil {
		t.Fatal(err)
	}
	const dry = "?dryRun=All&fieldValidation=Strict"
	if status, body, err := a.send(http.MethodPost, path+dry, text); err != nil || status != http.StatusCreated {
		t.Errorf("POST %s = %d %s, %v, want 201", path, status, body, err)
	}
	if status, body, err := a.send(http.MethodPost, path+dry, text+"\nnowhere: {}\n"); err != nil || status != http.StatusBadRequest || !strings.Contains(string(body), `unknown field \"nowhere\"`) {
		t.Errorf("POST %s with an unknown field = %d %s, %v, want 400", path, status, body, err)
	}
	if status, body, err := a.send(http.MethodGet, path+"/"+o.Metadata.Name, ""); err != nil || status != http.StatusNotFound {
		t.Errorf("GET %s/%s after the dry run = %d %s, %v, want 404", path, o.Metadata.Name, status, body, err)
	}
}
