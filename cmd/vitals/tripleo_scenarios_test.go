package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/profiles/tripleo"
)

// tripleoScenario is a scenario of the acceptance suite: what is given, and how the
// check of a container then ends.
type tripleoScenario struct {
	id, situation string
	service       string
	// settings are further ones of --set, environment are variables: NAME=VALUE.
	settings, environment []string
	// given changes a healthy container.
	given func(t *testing.T, c *container)
	// code is the exit code in the style plain, and rule the first that decides or warns.
	code int
	rule string
	// line is an expression for the rest of the output.
	line string
	// url is the URL that follows from the file of the service; empty if not tested.
	url string
}

// answer is the outcome as the documentation writes it.
func (s tripleoScenario) answer() string {
	word := map[int]string{0: "ok", 1: "failing", 2: "unknown", 3: "usage error"}[s.code]
	switch {
	case s.url != "":
		return "`" + s.url + "`"
	case s.rule != "" && s.code == 0:
		return fmt.Sprintf("0 warning `%s`", s.rule)
	case s.rule != "":
		return fmt.Sprintf("%d %s `%s`", s.code, word, s.rule)
	}
	return fmt.Sprintf("%d %s", s.code, word)
}

// tripleoScenarios are all of them, in the order of their ids.
func tripleoScenarios() []tripleoScenario {
	all := slices.Concat(tripleoAPIScenarios(), tripleoAddressScenarios(), tripleoSocketScenarios(), tripleoFileScenarios(), tripleoOtherScenarios())
	slices.SortStableFunc(all, func(a, b tripleoScenario) int { return strings.Compare(a.id, b.id) })
	return all
}

func TestTripleoScenarios(t *testing.T) {
	for _, s := range tripleoScenarios() {
		t.Run(s.id+" "+s.situation, func(t *testing.T) {
			for _, pair := range s.environment {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			c := newContainer(t)
			c.install(t)
			c.sockets(t)
			c.serve(t, s.service, s.settings)
			if s.given != nil {
				s.given(t, c)
			}
			settings := append(s.settings, "service="+s.service)
			if s.url != "" {
				if got := urlOf(t, c.config(t, settings...)); got != s.url {
					t.Errorf("the URL is %s, want %s", got, s.url)
				}
				return
			}
			code, out := c.once(t, "ready", "plain", settings...)
			start := regexp.MustCompile(`^(ok 0 ready|(warning|failing|unknown) \d ` + s.rule + ` |usage error 3 )`)
			if code != s.code || s.rule == "" && s.code == 1 || !start.MatchString(out) {
				t.Errorf("the check ends with %d %s\n%s, want %s", code, out, c.log.String(), s.answer())
			}
			if line := strings.ReplaceAll(s.line, "HTTP", c.ports["HTTP"]); !regexp.MustCompile(line).MatchString(out) {
				t.Errorf("the check printed %s, want %s", out, line)
			}
			if strings.Contains(out+c.log.String(), "s3cret") {
				t.Errorf("the check shows a secret: %s%s", out, c.log.String())
			}
		})
	}
}

// urlOf returns the URL of the HTTP collector, or "".
func urlOf(t *testing.T, cfg *config.Config) (url string) {
	t.Helper()
	forEachKind(cfg, func(k *kinds.Kinds) {
		if k.HTTP != nil {
			var err error
			if url, err = k.HTTP.Endpoint(); err != nil {
				t.Error(err)
			}
		}
	})
	return url
}

// serve makes the processes of a service, with all that they should hold.
func (c *container) serve(t *testing.T, name string, settings []string) {
	t.Helper()
	s, err := tripleo.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if s.Arguments == tripleo.Daemon {
		if s, err = s.WithArguments("virtlogd"); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, p := range s.Processes {
		names = append(names, p.Name)
	}
	c.runs(t, s, names, unchanged)
}

// answering has the HTTP server answer with a status.
func answering(status int32) func(*testing.T, *container) {
	return func(_ *testing.T, c *container) { c.status.Store(status) }
}

// showing replaces the sockets of the only process.
func showing(sockets ...labSocket) func(*testing.T, *container) {
	return func(t *testing.T, c *container) {
		t.Helper()
		c.processes[0].sockets = sockets
		c.proc(t, c.processes...)
	}
}

// writing replaces a file of the container.
func writing(path, text string) func(*testing.T, *container) {
	return func(t *testing.T, c *container) {
		t.Helper()
		c.write(t, path, text)
	}
}
