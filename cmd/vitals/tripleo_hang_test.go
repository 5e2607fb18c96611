package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/profiles/tripleo"
)

// A hang is blamed on the API that hangs, and not on the process that selects it.
func TestTripleoHang(t *testing.T) {
	const wait = `as it should: timeout\. \(value \d, since \S+\): 000 127\.0\.0\.1:\d+ \d+\.\d+ seconds: timeout$`
	for _, tt := range []struct{ service, process, api string }{
		{"nova-api", "", "nova-api"},
		{"nova-api", "metadata", "nova-metadata"},
		{"ironic-pxe", "httpd", "ironic-pxe"},
		{"ironic-inspector", "", "ironic-inspector"},
		{"swift-object-server", "swift-object-server", "swift-object"},
		{"swift-proxy", "swift-proxy-server", "swift-proxy"},
	} {
		t.Run(tt.service+" "+tt.process, func(t *testing.T) {
			line := checkHanging(t, tt.service, tt.process, "0.2", 20*time.Second, nil)
			if want := "^failing 1 APIDown failing: " + tt.api + " does not answer " + wait; !regexp.MustCompile(want).MatchString(line) {
				t.Errorf("the check printed %s, want %s", line, want)
			}
			line = checkHanging(t, tt.service, tt.process, "60", time.Second, nil) // longer than the evaluation waits
			if want := `^failing 1 APIDown failing: ` + tt.api + ` does not answer as it should: there is no result of it\. \(value \d, since \S+\)$`; !regexp.MustCompile(want).MatchString(line) {
				t.Errorf("the check printed %s, want %s", line, want)
			}
		})
	}
}

// One virtual host of the dashboard hangs, and the other refuses: both are named.
func TestTripleoHangOfTheDashboard(t *testing.T) {
	line := checkHanging(t, "horizon", "", "2", 20*time.Second, func(c *container) {
		c.write(t, "etc/httpd/conf.d/10-horizon_vhost.conf", "<VirtualHost *:1>\nServerName 127.0.0.1\n</VirtualHost>\n")
	})
	const want = `^failing 1 APIDown failing: The dashboard does not answer as it should, horizon: refused, horizon-ssl: timeout\. `
	if !regexp.MustCompile(want).MatchString(line) {
		t.Errorf("the check printed %s, want %s", line, want)
	}
}

// checkHanging returns the first line of the check of a service whose API never answers. A request
// takes at most maxTime, in seconds, and the check at most timeout.
func checkHanging(t *testing.T, service, process, maxTime string, timeout time.Duration, change func(*container)) string {
	t.Helper()
	t.Setenv("HEALTHCHECK_CURL_MAX_TIME", maxTime)
	c := newContainer(t)
	silentAPI(t, c)
	c.ports["HTTP"] = c.ports["SILENT"]
	c.install(t)
	s, err := tripleo.Find(service)
	if err != nil {
		t.Fatal(err)
	}
	c.runs(t, s, []string{process}, unchanged)
	if change != nil {
		change(c)
	}
	var out bytes.Buffer
	c.program(&out, "service="+service).runOnce("ready", "plain", timeout)
	line, _, _ := strings.Cut(out.String(), "\n")
	return line
}
