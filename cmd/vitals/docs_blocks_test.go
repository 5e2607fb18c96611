package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/rules"
)

// docFence is a fenced block of a page.
type docFence struct {
	// where is the page and the line of the block's first line.
	where, text string
}

// docFences returns a page's blocks of a language, moved to the left margin.
func docFences(page, text, language string) []docFence {
	var found []docFence
	var body []string
	indent, start := "", 0
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		trimmed := strings.TrimLeft(l, " ")
		switch {
		case start == 0 && trimmed == "```"+language:
			indent, start, body = l[:len(l)-len(trimmed)], i+2, nil
		case start > 0 && trimmed == "```":
			found = append(found, docFence{fmt.Sprintf("%s:%d", page, start), strings.Join(body, "\n") + "\n"})
			start = 0
		case start > 0:
			body = append(body, strings.TrimPrefix(l, indent))
		}
	}
	return found
}

// docFirstComment finds the file name at the start of a block.
var docFirstComment = regexp.MustCompile(`^# (vitals\.yml|rules\.yml|prometheus\.yml)\b`)

// kindOfBlock returns the kind of a YAML block: vitals.yml, rules.yml, prometheus.yml,
// tests, or empty for others.
func kindOfBlock(text string) string {
	if m := docFirstComment.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	var keys struct {
		Groups     any `yaml:"groups"`
		Collectors any `yaml:"collectors"`
		RuleFiles  any `yaml:"rule_files"`
		Tests      any `yaml:"tests"`
		Kind       string
	}
	if yaml.Unmarshal([]byte(text), &keys) != nil {
		return ""
	}
	switch {
	case keys.Groups != nil, keys.Kind == "PrometheusRule":
		return "rules.yml"
	case keys.Tests != nil:
		return "tests"
	case keys.Collectors != nil, keys.RuleFiles != nil:
		return "vitals.yml"
	}
	return ""
}

// loadDoc loads a configuration as vitals does. rules.yml and the files of /etc/vitals
// are in the same folder.
func loadDoc(t *testing.T, where, shown, text string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"vitals.yml": strings.ReplaceAll(text, "/etc/vitals/", dir+"/"), "token": "secret\n", "operator-token": "secret2\n",
		"rules.yml": "groups: []\n", "rules/more.yml": "groups: []\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs := config.LoadFile(filepath.Join(dir, "vitals.yml")); len(errs) > 0 {
		t.Errorf("%s: the configuration has mistakes: %v\n%s", where, errs, shown)
	}
}

// decodeAll reads every document of a text.
func decodeAll(text string) error {
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		if err := d.Decode(&document); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Every YAML block of a page parses, every configuration loads, and every rule file is
// valid.
func TestBlocksOfThePagesLoad(t *testing.T) {
	counts := map[string]int{}
	states := []string{evaluator.Ready, evaluator.Alive, evaluator.Started, "serving"}
	for _, page := range docPages(t) {
		for _, block := range docFences(page, readDoc(t, page), "yaml") {
			kind := kindOfBlock(block.text)
			counts[kind]++
			switch kind {
			case "vitals.yml":
				loadDoc(t, block.where, block.text, block.text)
			case "rules.yml":
				files, errs := rules.ParseAll("rules.yml", []byte(block.text), states)
				if errs = append(errs, rules.Check(files)...); len(errs) > 0 {
					t.Errorf("%s: the rule file has mistakes: %v\n%s", block.where, errs, block.text)
				}
			default:
				if err := decodeAll(block.text); err != nil {
					t.Errorf("%s: %v\n%s", block.where, err, block.text)
				}
			}
		}
	}
	if counts["vitals.yml"] < 8 || counts["rules.yml"] < 8 {
		t.Errorf("the pages have %v, want at least 8 configurations and 8 rule files", counts)
	}
}
