package firstconfig

import (
	"fmt"
	"strings"

	"github.com/vitals-health/vitals/internal/schema"
)

// The names of the files of a first configuration.
const (
	ConfigName = "vitals.yml"
	RulesName  = "rules.yml"
	TestsName  = "rules_test.yml"
)

// RulesHead is the comment at the beginning of both rule files.
const RulesHead = `# First rules, by "vitals init". They are yours: change them. Rules of the state ready take the
# workload out of service, those of alive restart it.
`

// head is the comment at the beginning of the configuration.
const head = `# What Vitals measures, by "vitals init". It is yours: change it. After a new collector,
# "vitals generate rules --config.file=vitals.yml" writes rules for it.
`

// Config returns the text of the configuration. unusable returns why a collector cannot be made
// here, or "": it is then a comment, and its password is dropped.
func (f *Found) Config(unusable func(name, text string) string) string {
	var b strings.Builder
	b.WriteString(schema.Modeline(schema.ConfigName) + "\n" + head + "rule_files: [" + RulesName + "]\ncollectors:\n")
	used := 0
	for i, c := range f.Collectors {
		text := c.text()
		if reason := unusable(c.Name, "collectors:\n"+text); reason != "" {
			fmt.Fprintf(&b, "  # %s, and it cannot be used here:\n  # %s\n", sentence(c.Source), reason)
			for line := range strings.Lines(text) {
				b.WriteString("  #" + strings.TrimPrefix(line, " "))
			}
			f.remark(fmt.Sprintf("%s is a comment in %s: %s", c.Name, ConfigName, reason))
			f.Collectors[i].Password = ""
			continue
		}
		used++
		fmt.Fprintf(&b, "  # %s.\n%s", sentence(c.Source), text)
		for i, line := range c.Better {
			prefix := "    # "
			if i > 0 {
				prefix = "    #   "
			}
			b.WriteString(prefix + strings.TrimPrefix(line, "  ") + "\n")
		}
	}
	if used == 0 {
		b.WriteString(minimal)
	}
	return b.String()
}

// sentence returns a text that begins with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// text returns the entry of the list of collectors.
func (c Collector) text() string {
	return fmt.Sprintf("  - name: %s\n    %s: {%s}\n", c.Name, c.Kind, c.Keys)
}

// minimal is what a host without any known service gets.
const minimal = `  # Nothing else was found: this measures the space that is left.
  - name: disk
    disk: {paths: [/]}
  # What a workload needs, of which there are more kinds:
  # - name: api
  #   http: {url: "http://127.0.0.1:8000/healthz"}
  # - name: database
  #   postgres: {address: "database.example:5432", username: app, password_file: /run/secrets/database}
  # - name: redis
  #   redis: {address: "127.0.0.1:6379"}
  # - name: server
  #   process: {name: server}
  # - name: nightly
  #   textfile: {path: "/run/vitals/*.prom"}
  # - name: metrics
  #   scrape: {url: "http://127.0.0.1:9100/metrics"}
`
