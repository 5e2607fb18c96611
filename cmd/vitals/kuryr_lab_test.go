package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/demo"
	"github.com/vitals-health/vitals/internal/fakes"
	"github.com/vitals-health/vitals/internal/once"
	"github.com/vitals-health/vitals/internal/server"
	"github.com/vitals-health/vitals/rules"
)

const (
	// labPace is the interval of every collector of a lab without an own interval.
	labPace = 400 * time.Millisecond
	// calmPace is for labs in which nothing changes.
	calmPace = time.Second
	// labTimeout is the timeout of every collector: a machine that is busy collects
	// late, which must not let evidence expire. Configurations have none above their
	// interval; the labs only need to collect often.
	labTimeout = 5 * time.Second
	// labIdle is how long a watch of a lab may be silent; bookmarks come every labBookmark.
	labIdle     = 5 * time.Second
	labBookmark = 100 * time.Millisecond
	// labPatience bounds everything that should happen soon.
	labPatience = 3 * time.Minute
)

// kuryrLab is a shipped profile of Kuryr as it runs, and a cloud of its own: real
// HTTP on both sides.
type kuryrLab struct {
	cloud *fakes.Cloud
	// node is the node that the CNI daemon's profile measures; nil for the controller's.
	node   *node
	loaded *config.Loaded
	daemon *daemon
	// web answers probes; local takes reports, as the Unix socket does.
	web, local *httptest.Server
	// marker is the file that marks the port pools as loaded.
	marker string
	pace   time.Duration
}

// labOptions are the differences of a lab from the profile.
type labOptions struct {
	// profile is another one than kuryr-controller.
	profile string
	// kuryrConf makes the lab use a kuryr.conf, with the placeholders of
	// testdata/kuryr.conf filled in; otherwise flags point it at the cloud.
	kuryrConf string
	set       map[string]string
	// shippedFor leaves the rules as patient as they are shipped.
	shippedFor bool
	// patience is the for of every rule, unless they are as they are shipped.
	patience time.Duration
	// pace is another interval than labPace.
	pace   time.Duration
	adjust func(*config.Config)
}

// newCloud starts fakes of the dependencies.
func newCloud(t *testing.T) *fakes.Cloud {
	t.Helper()
	cloud, err := fakes.Start(fakes.Options{BookmarkInterval: labBookmark, EventInterval: time.Second, Slow: 2 * labTimeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	})
	return cloud
}

// newKuryrLab loads the profile as the command line does, and starts nothing.
func newKuryrLab(t *testing.T, o labOptions) *kuryrLab {
	t.Helper()
	cloud := newCloud(t)
	dir := t.TempDir()
	lab := &kuryrLab{cloud: cloud, marker: filepath.Join(dir, "pools_loaded"), pace: cmp.Or(o.pace, labPace)}
	p := &program{profile: cmp.Or(o.profile, "kuryr-controller"), set: o.set}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	writeFile(t, kubeconfig, string(cloud.Kubeconfig()))
	if o.kuryrConf != "" {
		p.kuryrConf = filepath.Join(dir, "kuryr.conf")
		writeFile(t, p.kuryrConf, fillIn(t, o.kuryrConf, cloud, dir))
	}
	p.adjust = func(c *config.Config) {
		if o.kuryrConf == "" {
			expected := componentsOf(t, c).Expect
			demo.PointAt(c, cloud, kubeconfig)
			componentsOf(t, c).Expect = expected
		}
		lab.speedUp(c)
		if o.adjust != nil {
			o.adjust(c)
		}
	}
	l, errs := p.load()
	if len(errs) > 0 {
		t.Fatalf("load() = %v, want no mistakes", errs)
	}
	giveTime(&l.Config)
	if !o.shippedFor {
		dropPatience(l.Rules)
		for _, f := range l.Rules {
			for _, g := range f.Groups {
				for i := range g.Rules {
					g.Rules[i].For = o.patience
				}
			}
		}
	}
	lab.loaded = l
	d, err := p.newDaemon(l, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	lab.daemon = d
	s := lab.daemon.newServer(p, nil)
	lab.web, lab.local = serveHTTP(t, s.Handler()), serveHTTP(t, s.Local(func(*http.Request) error { return nil }))
	return lab
}

// startKuryrLab runs the profile until the test ends.
func startKuryrLab(t *testing.T, o labOptions) *kuryrLab {
	t.Helper()
	lab := newKuryrLab(t, o)
	lab.run(t)
	return lab
}

func (l *kuryrLab) run(t *testing.T) {
	t.Helper()
	writeFile(t, l.marker, "")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.daemon.eval.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

// giveTime allows collections that take longer than an interval.
func giveTime(c *config.Config) {
	for i := range c.Collectors {
		c.Collectors[i].Timeout = model.Duration(labTimeout)
	}
}

// speedUp makes the collectors run often, and sets the path of the pools' marker where no
// other test does.
func (l *kuryrLab) speedUp(c *config.Config) {
	c.EvaluationInterval = model.Duration(200 * time.Millisecond)
	for i := range c.Collectors {
		col := &c.Collectors[i]
		col.Interval, col.Timeout = model.Duration(l.pace), model.Duration(l.pace)
		switch {
		case col.Kubernetes != nil:
			col.Kubernetes.WatchIdleTimeout = model.Duration(labIdle)
		case col.Components != nil:
			col.Components.Deadline = model.Duration(time.Hour)
		case col.Name == "pools":
			col.File.Path = l.marker
		}
	}
}

// dropPatience evaluates every rule in every evaluation and without for, in both
// directions.
func dropPatience(files []*rules.File) {
	once.DropFor(files)
	for _, f := range files {
		for i := range f.Groups {
			f.Groups[i].Interval = 0
			for j := range f.Groups[i].Rules {
				f.Groups[i].Rules[j].KeepFiringFor = 0
			}
		}
	}
}

// componentsOf is the configuration of the profile's components.
func componentsOf(t *testing.T, c *config.Config) *components.Config {
	t.Helper()
	for i := range c.Collectors {
		if comps := c.Collectors[i].Components; comps != nil {
			return comps
		}
	}
	t.Fatal("the profile has no components, want them")
	return nil
}

func serveHTTP(t *testing.T, h http.Handler) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// writeFile replaces a file atomically: a concurrent reader gets the old or the new
// text. No process starts while it is open for writing: such a process would hold it
// open, too, and a program that is open for writing cannot be executed.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path))
	if err != nil {
		t.Fatal(err)
	}
}

// fillIn returns a kuryr.conf with the cloud's addresses and credentials.
func fillIn(t *testing.T, conf string, c *fakes.Cloud, dir string) string {
	t.Helper()
	token, authority := filepath.Join(dir, "token"), filepath.Join(dir, "ca.crt")
	writeFile(t, token, c.Token())
	writeFile(t, authority, string(c.Authority()))
	return strings.NewReplacer(
		"@API_ROOT@", c.KubernetesURL(), "@TOKEN_FILE@", token, "@CA_FILE@", authority,
		"@AUTH_URL@", c.KeystoneURL(), "@PASSWORD@", c.Password(), "@PROJECT_ID@", c.ProjectID(),
	).Replace(conf)
}

// answer is a response of the server.
type answer struct {
	code   int
	header http.Header
	body   string
}

// query sends a request to the server that answers probes.
func (l *kuryrLab) query(t *testing.T, method, path string, header ...string) answer {
	t.Helper()
	return send(t, method, l.web.URL+path, "", header...)
}

func (l *kuryrLab) get(t *testing.T, path string, header ...string) answer {
	t.Helper()
	return l.query(t, http.MethodGet, path, header...)
}

// report reports for a component as the controller's parts do.
func (l *kuryrLab) report(t *testing.T, component string, alive, ready bool, reason string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"alive": alive, "ready": ready, "reason": reason})
	if err != nil {
		t.Fatal(err)
	}
	if got := send(t, http.MethodPut, l.local.URL+"/api/v1/components/"+component, string(body)); got.code != http.StatusNoContent {
		t.Fatalf("report of %s = %d %s, want 204", component, got.code, got.body)
	}
}

func send(t *testing.T, method, url, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(data)}
}

// soon waits until check returns "". Until then check returns what is still wrong.
func soon(t *testing.T, check func() string) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(labPatience)
	for {
		wrong := check()
		if wrong == "" {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("after %s: %s", labPatience, wrong)
		case <-ticker.C:
		}
	}
}

// round waits until every collector has finished a collection that began after the call.
func (l *kuryrLab) round(t *testing.T) {
	t.Helper()
	ended := map[string]time.Time{}
	rounds := map[string]int{}
	soon(t, func() string {
		waiting := ""
		for _, c := range l.daemon.eval.Snapshot().Collectors {
			if last, known := ended[c.Name]; known && last != c.LastRun {
				rounds[c.Name]++ // the first one may have begun before now
			}
			if ended[c.Name] = c.LastRun; rounds[c.Name] < 2 {
				waiting = "collector " + c.Name + " has made no new round"
			}
		}
		return waiting
	})
}

// transitions is how often a state changed since the start. It counts every
// generation: a verdict that came and went between two queries is in it.
func (l *kuryrLab) transitions(t *testing.T, state string) uint64 {
	t.Helper()
	s := l.daemon.eval.Snapshot()
	st, ok := s.State(state, s.At)
	if !ok {
		t.Fatalf("there is no state %q", state)
	}
	return st.Transitions
}

// rule returns the present status of a rule.
func (l *kuryrLab) rule(t *testing.T, name string) evaluator.Rule {
	t.Helper()
	for _, r := range l.daemon.eval.Snapshot().Rules {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("there is no rule %q", name)
	return evaluator.Rule{}
}

// metric is the value of a series on /metrics, and "" where there is none.
func (l *kuryrLab) metric(t *testing.T, series string) string {
	t.Helper()
	got := l.get(t, "/metrics")
	if got.code != http.StatusOK {
		t.Fatalf("GET /metrics = %d, want 200 whatever happens", got.code)
	}
	for line := range strings.Lines(got.body) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// component returns a component's status in the API, and how often it is listed.
func (l *kuryrLab) component(t *testing.T, name string) (found []server.ComponentStatus) {
	t.Helper()
	var status struct {
		Components []server.ComponentStatus `json:"components"`
	}
	if err := json.Unmarshal([]byte(l.get(t, "/api/v1/status").body), &status); err != nil {
		t.Fatal(err)
	}
	for _, c := range status.Components {
		if c.Name == name {
			found = append(found, c)
		}
	}
	return found
}
