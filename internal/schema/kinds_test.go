package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals"
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/http"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/schema"
)

// own is a kind with values of all types.
type own struct {
	Text    string             `yaml:"text"`
	Whole   int                `yaml:"whole,omitempty"`
	Real    float64            `yaml:"real"`
	On      *bool              `yaml:"on"`
	Every   model.Duration     `yaml:"every"`
	Pause   time.Duration      `yaml:"pause"`
	Size    collectors.Size    `yaml:"size"`
	Token   collectors.Secret  `yaml:"token"`
	List    []string           `yaml:"list"`
	Parts   []part             `yaml:"parts"`
	Named   map[string]part    `yaml:"named"`
	TLS     *remote.ClientTLS  `yaml:"tls"`
	Word    word               `yaml:"word"`
	Any     any                `yaml:"any"`
	Numbers map[string]float64 `yaml:"numbers"`
	Plain   string
	Skipped string `yaml:"-"`
	Inner   `yaml:",inline"`

	hidden string
}

// Inner has keys of the kind.
type Inner struct {
	Within string `yaml:"within"`
}

// part contains itself.
type part struct {
	Name  string `yaml:"name"`
	Parts []part `yaml:"parts"`
}

// word decodes itself.
type word string

func (w *word) UnmarshalText(text []byte) error {
	*w = word(text)
	return nil
}

func (o *own) Problems() []collectors.Problem { return nil }
func (o *own) New(collectors.Env) (collectors.Collector, error) {
	return nil, fmt.Errorf("no collector %q", o.hidden)
}
func (o *own) External() bool                     { return false }
func (o *own) Metrics(string) []collectors.Metric { return nil }
func (o *own) Uses() []string                     { return nil }

const ownDocument = `
evaluation_interval: 2s
states: {serving: {no_data: fail}}
collectors:
  - name: all
    interval: 5s
    own:
      text: a
      whole: 3
      real: 1.5
      on: true
      every: 10s
      pause: 1m
      size: 10MiB
      token: secret
      list: [a, b]
      parts: [{name: a, parts: [{name: b}]}]
      named: {x: {name: c}}
      tls: {insecure_skip_verify: true}
      word: w
      any: [1, {a: b}]
      numbers: {pi: 3.14}
      plain: p
      within: i
  - {name: marker, file: {path: /run/ready, size_limit: 1MiB}}
  - {name: page, timeout: 1s, http: {url: "http://a", expect: {body: ok}}}
  - {name: empty, own: null}
`

// The schema for kinds of a program accepts what the decoder accepts, and refuses what it refuses.
func TestSchemaForKindsAgreesWithTheDecoder(t *testing.T) {
	has := map[string]collectors.Kind{"own": new(own), "file": new(file.Config), "http": new(http.Config)}
	types := map[string]reflect.Type{}
	for key, kind := range has {
		types[key] = reflect.TypeOf(kind).Elem()
	}
	valid := func(text []byte) error { return vitals.Validate(vitals.Options{Config: text, Kinds: has}) }
	if err := valid([]byte(ownDocument)); err != nil {
		t.Fatal(err)
	}
	shape := regexp.MustCompile(`unknown key|expected a (list|mapping|single text|whole number|duration such as 10s or 5m), got`)
	refused := func(text []byte) error {
		if err := valid(text); err != nil && shape.MatchString(err.Error()) {
			return err
		}
		return nil
	}
	check := compiled(t, "own.schema.json", schema.ForKinds(types))
	agree(t, [][]byte{[]byte(ownDocument)}, check, valid, refused)
	for _, text := range []string{"collectors: [{name: a, tcp: {address: 'a:1'}}]", "collectors: [{name: a}]", "collectors: [{name: a, own: {}, file: {path: /a}}]"} {
		if err := check([]byte(text)); err == nil {
			t.Errorf("the schema accepts %s, want an error", text)
		}
	}
}

// With all shipped kinds, the entries of the schema are those of the schema of the program vitals. A
// program without kinds has no entries.
func TestSchemaForShippedKinds(t *testing.T) {
	types := map[string]reflect.Type{}
	for _, name := range kinds.Names() {
		types[name] = reflect.TypeOf(kinds.New(name)).Elem()
	}
	entries := func(text []byte) (properties []string, refs map[string]any) {
		var s struct {
			Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
		}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		refs = s.Defs["kinds.Config"].Properties
		return slices.Sorted(maps.Keys(s.Defs)), refs
	}
	wantDefs, want := entries(schema.Config())
	gotDefs, got := entries(schema.ForKinds(types))
	if diff := gocmp.Diff(want, got); diff != "" || !slices.Equal(wantDefs, gotDefs) {
		t.Errorf("ForKinds() with all kinds differs from Config() (-want +got):\n%s", diff)
	}
	none := compiled(t, "none.schema.json", schema.ForKinds(nil))
	for text, want := range map[string]bool{"rule_files: [a.yml]": true, "collectors: []": true, "collectors: [{name: a}]": false, "collectors: [{name: a, file: {path: /a}}]": false} {
		if err := none([]byte(text)); (err == nil) != want {
			t.Errorf("without kinds, the schema has for %s: %v, want accepted %t", text, err, want)
		}
	}
}

// tree and list are in themselves.
type (
	tree map[string]tree
	list []list
)

// A type that is in itself has a finite schema.
func TestForKindsThatAreInThemselves(t *testing.T) {
	type kind struct {
		Tree tree `yaml:"tree"`
		List list `yaml:"list"`
	}
	got := string(schema.ForKinds(map[string]reflect.Type{"own": reflect.TypeFor[kind]()}))
	if n := strings.Count(got, `"own.`); n != 3 {
		t.Errorf("ForKinds() has %d definitions of own types, want 3", n)
	}
}
