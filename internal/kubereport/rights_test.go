package kubereport

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/evaluator/evaluatortest"
	"github.com/vitals-health/vitals/internal/history"
)

// server is an API server that allows some rights only, as RBAC does.
type server struct {
	allowed map[string]bool

	mu       sync.Mutex // guards what follows
	used     map[string]bool
	requests chan string
}

// path of the requests that a reporter sends.
var path = regexp.MustCompile(`^/api/v1/(?:namespaces/[^/]+/)?([a-z]+)(?:/[^/]+(/status)?)?$`)

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	verb := map[string]string{"POST": "create", "PATCH": "patch"}[r.Method]
	wantType := map[string]string{"POST": "application/json", "PATCH": "application/strategic-merge-patch+json"}[r.Method]
	parts := path.FindStringSubmatch(r.URL.Path)
	if parts == nil || verb == "" || r.Header.Get("Content-Type") != wantType || r.Header.Get("Authorization") != "Bearer hunter2" {
		http.Error(w, fmt.Sprintf("unexpected %s %s %v", r.Method, r.URL.Path, r.Header), http.StatusTeapot)
		return
	}
	right := verb + " " + parts[1] + parts[2]
	s.mu.Lock()
	s.used[right] = true
	s.mu.Unlock()
	code, answer := http.StatusOK, map[string]any{"kind": "Status"}
	if !s.allowed[right] {
		code = http.StatusForbidden
		answer["message"] = fmt.Sprintf("forbidden: User \"system:serviceaccount:shop:my-app\" cannot %s resource %q", verb, parts[1]+parts[2])
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
	s.requests <- right
}

// documented returns the rights of the roles in the guide.
func documented(t *testing.T) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("../../docs/guides/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ = bytes.Cut(page, []byte("\n## Events and conditions\n"))
	page, _, _ = bytes.Cut(page, []byte("\n## "))
	rights := map[string]bool{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1) {
		for _, document := range bytes.Split(block[1], []byte("\n---\n")) {
			var role struct {
				Kind  string
				Rules []struct {
					APIGroups        []string `yaml:"apiGroups"`
					Resources, Verbs []string
				}
			}
			if yaml.Unmarshal(document, &role) != nil || !slices.Contains([]string{"Role", "ClusterRole"}, role.Kind) {
				continue
			}
			for _, rule := range role.Rules {
				if !slices.Equal(rule.APIGroups, []string{""}) {
					t.Errorf("the guide's role has the groups %q, want the core group only", rule.APIGroups)
				}
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						rights[verb+" "+resource] = true
					}
				}
			}
		}
	}
	return rights
}

// report makes a reporter with all reports fail and recover twice, against a server with these
// rights. It returns the log and the outcomes.
func report(t *testing.T, s *server) (log string, outcomes map[string]Status) {
	t.Helper()
	s.used, s.requests = map[string]bool{}, make(chan string, 100)
	api := httptest.NewUnstartedServer(s)
	api.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	api.StartTLS()
	defer api.Close()
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]\nusers: [{name: u, user: {token: hunter2}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n", api.URL, authority)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	var hidden []string
	o := Options{Events: true, ReadinessGate: gate, NodeCondition: gate, Kubeconfig: kubeconfig}
	r, err := New(o, Env{
		Getenv: environment, Clean: strings.NewReplacer("hunter2", "<secret>").Replace,
		Hide: func(secrets ...string) { hidden = append(hidden, secrets...) }, Logger: slog.New(slog.NewTextHandler(&written, nil)),
	})
	if err != nil || !slices.Contains(hidden, "hunter2") {
		t.Fatalf("New() = %v with the secrets %q, want the token among them", err, hidden)
	}
	l := &lab{history: history.New(time.Now()), Stage: evaluatortest.NewStage(snapshot(evaluator.Pass))}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx, l, l.history)
	}()
	for i, verdict := range []evaluator.Verdict{evaluator.Fail, evaluator.Pass, evaluator.Fail, evaluator.Pass} {
		snap := snapshot(verdict)
		snap.At = time.Now()
		l.history.Observe(snap)
		want := []string{"create events"}
		if i >= 2 && s.allowed["create events"] {
			want = []string{"patch events"}
		}
		if i == 0 {
			want = append(want, "patch pods/status", "patch nodes/status")
		}
		s.await(t, want)
	}
	cancel()
	<-done
	outcomes = map[string]Status{}
	for _, status := range r.Status() {
		outcomes[status.Verb+" "+status.Resource] = status
	}
	return written.String(), outcomes
}

// await waits until each of the rights was used once more.
func (s *server) await(t *testing.T, rights []string) {
	t.Helper()
	for len(rights) > 0 {
		select {
		case right := <-s.requests:
			rights = slices.DeleteFunc(rights, func(r string) bool { return r == right })
		case <-time.After(10 * time.Second):
			t.Fatalf("no request within 10 s, want %q", rights)
		}
	}
}

// The guide has exactly the rights that the requests use.
func TestDocumentedRightsAreThoseUsed(t *testing.T) {
	s := &server{allowed: documented(t)}
	log, outcomes := report(t, s)
	used := slices.Sorted(maps.Keys(s.used))
	if allowed := slices.Sorted(maps.Keys(s.allowed)); !slices.Equal(used, allowed) {
		t.Errorf("requests use %q, and docs/guides/kubernetes.md allows %q, want the same", used, allowed)
	}
	var generated []string
	for _, right := range (Options{Events: true, ReadinessGate: "a", NodeCondition: "b"}).Rights("shop") {
		generated = append(generated, right.Verb+" "+right.Resource)
	}
	slices.Sort(generated)
	if !slices.Equal(used, generated) {
		t.Errorf("Rights() = %q, want %q", generated, used)
	}
	if reported := slices.Sorted(maps.Keys(outcomes)); !slices.Equal(used, reported) {
		t.Errorf("Status() has %q, want %q", reported, used)
	}
	for right, status := range outcomes {
		if !status.Requested || !status.Success || status.Failures != 0 {
			t.Errorf("%s: %+v, want success", right, status)
		}
	}
	if strings.Contains(log, "level=WARN") {
		t.Errorf("log = %s, want no warning", log)
	}
}

// Without one right, the log and the outcome name it, and the other reports go on.
func TestMissingRightIsNamed(t *testing.T) {
	for missing := range documented(t) {
		t.Run(missing, func(t *testing.T) {
			s := &server{allowed: documented(t)}
			delete(s.allowed, missing)
			log, outcomes := report(t, s)
			verb, resource, _ := strings.Cut(missing, " ")
			want := fmt.Sprintf(`level=WARN msg="a report to Kubernetes is forbidden: the account lacks the right" verb=%s resource=%s err=`, verb, resource)
			if strings.Count(log, want) != 1 || strings.Count(log, "level=WARN") != 1 || strings.Contains(log, "hunter2") {
				t.Errorf("log = %s, want one warning: %s", log, want)
			}
			for right, status := range outcomes {
				unused := missing == "create events" && right == "patch events" // there is no event to patch
				if status.Requested == unused || status.Success != (right != missing && !unused) || (status.Failures > 0) != (right == missing) {
					t.Errorf("outcome of %s = %+v", right, status)
				}
			}
		})
	}
}
