package main

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
	httpkind "github.com/vitals-health/vitals/collectors/http"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/evaluator"
	"github.com/vitals-health/vitals/internal/config"
)

// canary is a secret that must not be seen anywhere.
const canary = "s3cr3t-canary"

// secretForms are texts that hold it in a form that shows it to be secret.
func secretForms() []any {
	return []any{
		"http://user:" + canary + "@127.0.0.1:1/x?a=b",
		"http://127.0.0.1:1/x?a=b&api_key=" + canary,
		"--db-password=" + canary,
	}
}

// secretsIn are values of a type of the configuration, as YAML has them, of which each
// holds the canary in another place or form. New fields are included without a change here.
func secretsIn(typ reflect.Type, key string) []any {
	var all []any
	switch {
	case typ == reflect.TypeFor[collectors.Secret]():
		return []any{canary}
	case typ.Kind() == reflect.Pointer:
		return secretsIn(typ.Elem(), key)
	case typ.Kind() == reflect.Slice:
		for _, v := range secretsIn(typ.Elem(), key) {
			all = append(all, []any{v})
		}
		if key == "command" {
			all = append(all, []any{"/bin/echo", "--password", canary}, []any{"/bin/echo", "-H", "X-Auth-Token: " + canary})
		}
	case typ.Kind() == reflect.Map:
		for _, v := range secretsIn(typ.Elem(), key) {
			all = append(all, map[string]any{"name": v})
		}
		if k := typ.Elem().Kind(); k == reflect.String || k == reflect.Interface {
			all = append(all, map[string]any{"X-Api-Key": canary}, map[string]any{"access.token": canary}, map[string]any{"X-Auth-Token": canary})
		}
	case typ.Kind() == reflect.Struct:
		for f := range typ.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if typ == reflect.TypeFor[httpkind.Expect]() {
				name = "expected " + name // and not sent
			}
			for _, v := range secretsIn(f.Type, name) {
				name := strings.TrimPrefix(name, "expected ")
				if options != "inline" {
					v = map[string]any{name: v}
				}
				all = append(all, v)
			}
		}
	default: // also where a number is expected
		all = secretForms()
		if slices.Contains([]string{"body", "send", "password_file", "bearer_token_file"}, key) {
			all = append(all, canary)
		}
	}
	return all
}

// plainBlocks returns the smallest block of each kind: that of example.yml in its folder, or,
// where it needs a file or a server of the host, one that fails at once.
func plainBlocks(t *testing.T) map[string]string {
	t.Helper()
	blocks := map[string]string{
		"kubernetes": "{server: 'http://127.0.0.1:1'}",
		"keystone":   "{auth_url: 'http://127.0.0.1:1', username: u, password: p, project_name: p, user_domain_name: d, project_domain_name: d}",
		"neutron":    "{auth_url: 'http://127.0.0.1:1', username: u, password: p, project_name: p, user_domain_name: d, project_domain_name: d}",
		"http":       "{url: 'http://127.0.0.1:1'}",
		"tcp":        "{address: '127.0.0.1:1'}",
		"postgres":   "{address: '127.0.0.1:1'}",
		"redis":      "{address: '127.0.0.1:1'}",
		"memcached":  "{address: '127.0.0.1:1'}",
		"components": "{expect: [a]}",
		"scrape":     "{url: 'http://127.0.0.1:1'}",
		"systemd":    "{units: [a.service], bus: 'unix:path=/nonexistent'}",
		"supervisor": "{socket: /nonexistent}",
		"script":     "{command: [/bin/sh, -c, 'env; exit 2']}",
	}
	for _, kind := range kinds.Names() {
		if blocks[kind] == "" {
			_, block := kindExample(t, kind)
			blocks[kind] = strings.TrimPrefix(block, kind+": ")
		}
	}
	return blocks
}

// TestNothingShowsWhatAConfigurationHides puts a secret into every place of every kind of
// collector, and checks what is shown of the configuration, at its mistakes, and at what
// the collector reports without a server.
func TestNothingShowsWhatAConfigurationHides(t *testing.T) {
	blocks := plainBlocks(t)
	for f := range reflect.TypeFor[kinds.Kinds]().Fields() {
		kind, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			variants := secretsIn(f.Type, kind)
			if _, any := variants[0].(map[string]any); !any || len(variants) < 2 && kind != "netlink" {
				t.Fatalf("%d places, want more", len(variants))
			}
			for _, v := range variants {
				var block map[string]any
				if err := yaml.Unmarshal([]byte(blocks[kind]), &block); err != nil {
					t.Fatal(err)
				}
				over, _ := v.(map[string]any)
				maps.Copy(block, over)
				checkHidden(t, map[string]any{"collectors": []any{map[string]any{"name": "c", kind: block}}})
			}
		})
	}
	t.Run("the rest", func(t *testing.T) {
		variants := secretsIn(reflect.TypeFor[config.ServerConfig](), "")
		for _, v := range variants {
			checkHidden(t, map[string]any{"server": v})
		}
		for _, v := range secretForms() {
			checkHidden(t, map[string]any{"rule_files": []any{v}})
			checkHidden(t, map[string]any{"evaluation_interval": v})
			checkHidden(t, map[string]any{"states": map[string]any{"ready": map[string]any{"no_data": v}}})
			checkHidden(t, map[string]any{"collectors": []any{map[string]any{"name": v}}})
		}
	})
}

// checkHidden loads a configuration and, where it has no mistake, makes its collector and
// runs it once.
func checkHidden(t *testing.T, content map[string]any) {
	t.Helper()
	data, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	l, errs := config.Load(config.NewSources(), "vitals.yml", data, nil)
	texts := []string{string(l.Redacted)}
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	if len(errs) > 0 {
		texts = texts[1:] // it never runs, so it is never shown
	}
	if len(errs) == 0 && len(l.Config.Collectors) > 0 {
		texts = append(texts, collectOnceText(t, l)...)
	}
	for _, text := range texts {
		if strings.Contains(text, canary) {
			t.Errorf("%s\nshows %q", data, text)
		}
	}
}

// collectOnceText returns all output about the first collection.
func collectOnceText(t *testing.T, l *config.Loaded) []string {
	t.Helper()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b := config.Builder{Logger: logger}
	cfg, _, err := b.Build(l)
	if err != nil {
		return []string{err.Error()}
	}
	cfg.Sources[0].Timeout = 100 * time.Millisecond
	e, err := evaluator.New(cfg, evaluator.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.Run(ctx)
	}()
	for changed := e.Changed(); !e.Snapshot().Collectors[0].Ran; changed = e.Changed() {
		<-changed
	}
	cancel()
	<-ended
	s := e.Snapshot()
	texts := []string{log.String(), s.Collectors[0].Error, s.Collectors[0].Note}
	for _, sample := range s.Batches[0].Samples {
		if s.Collectors[0].Kind == "netlink" && sample.Labels.Has("interface") {
			continue // rules select an interface by its name, whatever that is
		}
		texts = append(texts, sample.Labels.String())
	}
	return texts
}
