package main

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/once"
)

const recipesPage = "docs/guides/recipes.md"

// recipe is one question of the page, by the name of its group of rules.
type recipe struct{ heading, config, rules string }

// documentedRecipes reads the recipes of the page. A heading has either both files or none.
func documentedRecipes(t *testing.T) map[string]recipe {
	t.Helper()
	found := map[string]recipe{}
	for _, section := range strings.Split(readDoc(t, recipesPage), "\n## ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		blocks := docFences(recipesPage+" "+heading, text, "yaml")
		if len(blocks) == 0 {
			continue
		}
		if len(blocks) != 2 || kindOfBlock(blocks[0].text) != "vitals.yml" || kindOfBlock(blocks[1].text) != "rules.yml" {
			t.Fatalf("%s has %d blocks, want vitals.yml and rules.yml", heading, len(blocks))
		}
		if !strings.Contains(text, "`alive`") {
			t.Errorf("%s: the text does not name `alive`, want what it must not do", heading)
		}
		_, name, _ := strings.Cut(blocks[1].text, "- name: ")
		name, _, _ = strings.Cut(name, "\n")
		found[name] = recipe{heading, blocks[0].text, blocks[1].text}
	}
	return found
}

// command runs a command of Vitals that has to succeed, without a remark either.
func command(t *testing.T, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(args, &out, &errs); code != exitOK || strings.Contains(out.String(), " info V") {
		t.Errorf("vitals %s = %d, want 0 without findings:\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
}

// write writes the files of a recipe into a folder, with these texts of the configuration replaced,
// and returns their paths.
func (r recipe) write(t *testing.T, dir string, oldnew ...string) (configFile, rulesFile string) {
	t.Helper()
	write(t, dir, "password", "hunter2\n")
	replaced := strings.NewReplacer(append(oldnew, "/etc/vitals/", dir+"/")...).Replace(r.config)
	return write(t, dir, "vitals.yml", replaced), write(t, dir, "rules.yml", r.rules)
}

// judged collects and evaluates once, as vitals once does, and returns the verdicts of ready and
// alive with the rules that decide.
func judged(t *testing.T, file string) (ready, alive string) {
	t.Helper()
	l, errs := config.LoadFile(file)
	if len(errs) > 0 {
		t.Fatalf("LoadFile() = %v, want no mistakes", errs)
	}
	once.DropFor(l.Rules)
	b := config.Builder{Logger: discard()}
	cfg, _, err := b.Build(l)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cfg.Sources {
		cfg.Sources[i].Timeout = labPatience // of a busy machine
	}
	eval, err := evaluator.New(cfg, evaluator.Options{Logger: discard()})
	if err != nil {
		t.Fatal(err)
	}
	var s *evaluator.Snapshot
	once.Run(eval, labPatience, func(_ context.Context, _ *evaluator.Evaluator, seen *evaluator.Snapshot) { s = seen })
	verdict := func(name string) string {
		state, _ := s.State(name, s.At)
		text := state.Verdict.String()
		for _, i := range state.Deciding {
			text += " " + s.Rules[i].Name
		}
		return text
	}
	return verdict(evaluator.Ready), verdict(evaluator.Alive)
}

// Each recipe is valid, has no findings, passes its unit test, and gives the verdict that it promises
// against a server that is healthy and one with the fault.
func TestRecipes(t *testing.T) {
	recipes, cases := documentedRecipes(t), recipeCases()
	if diff := missing(slices.Collect(maps.Keys(cases)), slices.Collect(maps.Keys(recipes))); diff != nil || len(cases) != len(recipes) {
		t.Errorf("the page has the recipes %v, and the tests %v", slices.Sorted(maps.Keys(recipes)), slices.Sorted(maps.Keys(cases)))
	}
	for name, r := range recipes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			configFile, rulesFile := r.write(t, dir)
			write(t, dir, "ca.pem", "")
			command(t, "check", "config", "--syntax-only", configFile)
			command(t, "check", "rules", "--config.file="+configFile, rulesFile)
			tests, err := os.ReadFile(filepath.Join("testdata", "recipes", name+"_test.yml"))
			if err != nil {
				t.Fatal(err)
			}
			command(t, "test", "rules", write(t, dir, "rules_test.yml", string(tests)))
			healthy, faults := 0, 0
			for _, c := range cases[name] {
				t.Run(c.name, func(t *testing.T) {
					dir := t.TempDir()
					configFile, _ := r.write(t, dir, c.serve(t, dir)...)
					ready, alive := judged(t, configFile)
					if ready != c.ready || alive != c.alive() {
						t.Errorf("ready, alive = %q, %q, want %q, %q", ready, alive, c.ready, c.alive())
					}
				})
				if c.ready == "pass" {
					healthy++
				} else {
					faults++
				}
			}
			if healthy == 0 || faults == 0 {
				t.Errorf("%d healthy servers and %d faults, want some of each", healthy, faults)
			}
		})
	}
}
