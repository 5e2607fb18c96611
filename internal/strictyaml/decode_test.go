package strictyaml_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/model"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// config has a field of every kind.
type config struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval,omitempty"`
	Pause    time.Duration  `yaml:"pause"`
	Ratio    float64
	Size     size       `yaml:"size"`
	Address  netip.Addr `yaml:"address"`
	Custom   loud       `yaml:"custom"`
	Target   target     `yaml:"target"`
	Empty    *struct{}  `yaml:"empty"`
	Inner    `yaml:",inline"`
	Listen   []listener         `yaml:"listeners"`
	Labels   map[string]string  `yaml:"labels"`
	More     map[string]*limits `yaml:"more"`
	Other    any                `yaml:"other"`
	Picky    picky              `yaml:"picky"`
	Ignored  string             `yaml:"-"`
	//lint:ignore U1000 an unexported field is not a key
	hidden string
}

func (c *config) SetDefaults() {
	c.Name = "default"
	c.Nested.Min = 3
}

// Inner is inlined.
type Inner struct {
	Enabled bool    `yaml:"enabled"`
	Nested  limits  `yaml:"nested"`
	Pointed *limits `yaml:"pointed"`
}

type limits struct {
	Max int `yaml:"max"`
	Min int `yaml:"min"`
}

func (l *limits) SetDefaults() { l.Max, l.Min = 10, 1 }

type listener struct {
	Port uint16   `yaml:"port"`
	Tags []string `yaml:"tags"`
}

func (l *listener) SetDefaults() { l.Port = 8080 }

// size has a decoding method and an expected form.
type size int

func (*size) Expected() string { return "a size such as 512MiB" }

func (s *size) UnmarshalText(text []byte) error {
	number, ok := strings.CutSuffix(string(text), "KiB")
	if _, err := fmt.Sscan(number, (*int)(s)); err != nil || !ok {
		return errors.New("no size")
	}
	return nil
}

// loud decodes a node.
type loud string

func (l *loud) UnmarshalYAML(n *yaml.Node) error {
	if n.Value == "s3cret" {
		return fmt.Errorf("%q is not allowed", n.Value)
	}
	*l = loud(strings.ToUpper(n.Value))
	return nil
}

// target is a text or a mapping.
type target struct {
	URL  string `yaml:"url"`
	Port int    `yaml:"port"`
}

func (t *target) UnmarshalYAML(unmarshal func(any) error) error {
	if err := unmarshal(&t.URL); err == nil {
		return nil
	}
	type plain target
	return unmarshal((*plain)(t))
}

// picky decodes a block and returns an error with its content.
type picky struct {
	Word string `yaml:"word"`
}

func (p *picky) UnmarshalYAML(unmarshal func(any) error) error {
	type plain picky
	if err := unmarshal((*plain)(p)); err != nil {
		return err
	}
	return fmt.Errorf("the word %s is taken", p.Word)
}

func expand(s string) (string, error) {
	switch {
	case strings.Contains(s, "${UNSET}"):
		return "", errors.New("variable UNSET is not set")
	case strings.Contains(s, "${"):
		return strings.NewReplacer("${HOME_TOWN}", "Ulm", "${SECRET}", "s3cret", "${PORT}", "99", "${YES}", "true").Replace(s), nil
	}
	return s, nil
}

func TestDecodeGoodFile(t *testing.T) {
	data, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got config
	_, errs := strictyaml.Decode("good.yaml", data, &got, strictyaml.WithExpand(expand))
	if len(errs) > 0 {
		t.Fatalf("Decode() = %v, want no mistakes", errs)
	}
	want := config{
		Name: "vitals", Interval: model.Duration(90 * time.Second), Pause: 250 * time.Millisecond, Ratio: 0.5, Size: 5,
		Address: netip.MustParseAddr("192.0.2.1"), Custom: "SHOUT", Target: target{URL: "http://192.0.2.1/"}, Empty: &struct{}{},
		Inner: Inner{Enabled: true, Nested: limits{Max: 7, Min: 3}},
		Listen: []listener{
			{Port: 80}, {Port: 8080, Tags: []string{"vitals", "plain"}}, {Port: 443, Tags: []string{"vitals", "plain"}}, {Port: 8080},
		},
		Labels: map[string]string{"one": "1", "a.b": "dotted", "from": "Ulm"},
		More:   map[string]*limits{"first": {Max: 10, Min: -2}},
		Other:  []any{1, 2.5, true, nil, "3", "text", "2001-01-01", map[string]any{"k": "v"}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(config{}), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("Decode() differs (-want +got):\n%s", diff)
	}
}

func TestDecodeDefaults(t *testing.T) {
	tests := []struct {
		name, given string
		want        Inner
	}{
		{"block missing", "name: x", Inner{Nested: limits{Max: 10, Min: 3}}},
		{"block empty", "nested:\npointed:", Inner{Nested: limits{Max: 10, Min: 3}, Pointed: &limits{Max: 10, Min: 1}}},
		{"block with braces", "nested: {}\npointed: {}", Inner{Nested: limits{Max: 10, Min: 3}, Pointed: &limits{Max: 10, Min: 1}}},
		{"value empty", "nested: {max: }\npointed: {min: ~}", Inner{Nested: limits{Max: 10, Min: 3}, Pointed: &limits{Max: 10, Min: 1}}},
		{"zero is a value", "nested: {max: 0}", Inner{Nested: limits{Max: 0, Min: 3}}},
		{"expanded in quotes", "enabled: \"${YES}\"\nnested: {max: '${PORT}'}", Inner{Enabled: true, Nested: limits{Max: 99, Min: 3}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got config
			_, errs := strictyaml.Decode("f", []byte(tt.given), &got, strictyaml.WithExpand(expand))
			if diff := cmp.Diff(tt.want, got.Inner); diff != "" || len(errs) > 0 {
				t.Errorf("Decode() = %v, differs (-want +got):\n%s", errs, diff)
			}
		})
	}
}

func TestDecodeMergesIntoDefaultMap(t *testing.T) {
	got := struct{ States map[string]limits }{map[string]limits{"ready": {1, 2}, "alive": {3, 4}}}
	_, errs := strictyaml.Decode("f", []byte("states: {ready: {max: 9}, more: {}}"), &got)
	want := map[string]limits{"ready": {9, 2}, "alive": {3, 4}, "more": {10, 1}}
	if diff := cmp.Diff(want, got.States); diff != "" || len(errs) > 0 {
		t.Errorf("Decode() = %v, differs (-want +got):\n%s", errs, diff)
	}
}

// mistakes has the errors of every bad file of testdata.
var mistakes = map[string][]string{
	"unknown_key": {`2:1: unknown key "intervall", did you mean "interval"? Expected one of name, interval, pause, ratio, size, address, custom, target, empty, enabled, nested, pointed, ...`},
	"unknown_key_far": {
		`4:5: listeners[0]: unknown key "zebra", expected one of port, tags`},
	"unknown_key_many": {
		`2:1: unknown key "zebra", expected one of name, interval, pause, ratio, size, address, custom, target, empty, enabled, nested, pointed, ...`},
	"unknown_key_in_empty_block": {`1:9: empty: unknown key "what", expected no keys here`},
	"duplicate_key":              {`5:3: labels: duplicate key "x", expected it once (first at line 3)`},
	"duration":                   {`2:11: interval: expected a duration such as 10s or 5m, got "5 seconds"`},
	"duration_is_list":           {`2:3: interval: expected a duration such as 10s or 5m, got a list`},
	"list_is_mapping":            {`2:3: listeners: expected a list, got a mapping`},
	"mapping_is_text":            {`1:9: nested: expected a mapping, got "foo"`},
	"text_is_mapping":            {`2:3: name: expected a single text, got a mapping`},
	"text_is_list":               {`1:7: name: expected a single text, got a list`},
	"number": {
		`2:11: listeners[0].port: expected a whole number from 0 to 65535, got "ssh"`,
		`3:11: listeners[1].port: expected a whole number from 0 to 65535, got "70000"`,
		`4:11: listeners[2].port: expected a whole number from 0 to 65535, got "80"`,
		`5:11: listeners[3].port: expected a whole number from 0 to 65535, got "-1"`,
		`6:11: listeners[4].port: expected a whole number from 0 to 65535, got "1.5"`},
	"boolean":                     {`1:10: enabled: expected true or false, got "yes"`},
	"float":                       {`1:8: ratio: expected a number, got "half"`},
	"labels_value":                {`2:6: labels.a: expected a single text, got a mapping`},
	"expected_by_type":            {`1:7: size: expected a size such as 512MiB, got "5 bananas"`},
	"size_is_list":                {`1:7: size: expected a size such as 512MiB, got a list`},
	"text_unmarshaler":            {`1:10: address: invalid value, got "nowhere": ParseAddr("nowhere"): unable to parse IP`},
	"one_of":                      {`1:10: target: unknown key "prot", did you mean "port"? Expected one of url, port`},
	"two_documents":               {`2:1: second document, expected exactly one in a file`},
	"second_document_broken":      {`4:1: not valid YAML: did not find expected node content`},
	"empty":                       {`1:1: empty file, expected one YAML document`},
	"only_comment":                {`1:1: empty file, expected one YAML document`},
	"not_yaml":                    {`2:1: not valid YAML: did not find expected ',' or ']'`},
	"reference_unquoted":          {`2:1: not valid YAML: did not find expected ',' or '}': within { } and [ ], a value with ${ needs quotes`},
	"not_yaml_first_line":         {`1:1: not valid YAML: did not find expected node content`},
	"not_yaml_quote":              {`2:1: not valid YAML: found unexpected end of stream`},
	"colon":                       {`3:1: not valid YAML: mapping values are not allowed in this context`},
	"tab":                         {`3:1: tab in the indentation, expected spaces`},
	"invalid_utf8":                {`2:9: invalid byte 0xff, expected text in UTF-8`},
	"control":                     {`2:9: control character 0x01, expected text in UTF-8`},
	"template_of_helm":            {`1:7: name: expected a single text, got {{ ... }} without quotes: this is a template, to be rendered first, as "helm template" does`},
	"template_of_helm_in_text":    {`1:1: not valid YAML: did not find expected key: this is a template, to be rendered first, as "helm template" does`},
	"template_of_helm_elsewhere":  {`3:1: not valid YAML: did not find expected node content: this is a template, to be rendered first, as "helm template" does`},
	"template_statement":          {`2:1: not valid YAML: could not find expected ':': this is a template, to be rendered first, as "helm template" does`},
	"template_of_jinja":           {`2:1: not valid YAML: found character that cannot start any token: this is a template, to be rendered first, as "helm template" does`},
	"template_of_label":           {`1:7: name: expected a single text, got {{ ... }} without quotes, which it needs`},
	"template_of_label_in_text":   {`1:1: not valid YAML: did not find expected key: a value that begins with {{ needs quotes`},
	"template_of_label_elsewhere": {`3:1: not valid YAML: did not find expected node content`},
	"unknown_anchor":              {`1:1: not valid YAML: unknown anchor 'absent' referenced`},
	"alias_of_itself":             {`2:6: alias "a" contains itself`},
	"billion_laughs":              {`1:1: aliases make the file larger than 16 MiB`},
	"deep":                        {`1:108: nested deeper than 100 levels`},
	"deep_aliases":                {`100:14: nested deeper than 100 levels`},
	"merge_text":                  {`2:7: nested: expected a mapping to merge with "<<", got "5"`},
	"merge_list":                  {`2:8: nested: expected a mapping to merge with "<<", got "5"`},
	"merged_unknown":              {`1:20: nested: unknown key "zap", did you mean "max"? Expected one of max, min`},
	"tag": {
		`1:7: name: unsupported tag "!!binary", expected a value without a tag`,
		`2:8: ratio: unsupported tag "!local", expected a value without a tag`},
	"key_is_list": {
		`1:3: expected a string as the key, got a list`,
		`3:10: labels: expected a string as the key, got nothing`},
	"expand": {
		`1:7: name: variable UNSET is not set`,
		`2:8: ratio: expected a number, got "${SECRET}"`,
		`3:11: interval: expected a duration such as 10s or 5m, got "${SECRET}"`,
		`4:10: address: invalid value, got "${SECRET}"`,
		`5:9: custom: invalid value, got "${SECRET}"`,
		`7:3: picky: invalid value, got a mapping`},
	"own_method": {
		`1:9: custom: invalid value, got "s3cret": "s3cret" is not allowed`,
		`3:3: picky: invalid value, got a mapping: the word s3cret is taken`},
	"own_method_inner": {`2:3: picky: unknown key "ward", did you mean "word"?`},
	"many_at_once": {
		`1:1: unknown key "zap", expected one of name, interval, pause, ratio, size, address, custom, target, empty, enabled, nested, pointed, ...`,
		`2:7: name: expected a single text, got a list`,
		`4:8: nested.max: expected a whole number, got "x"`,
		`5:3: nested: unknown key "may", did you mean "max"? Expected one of max, min`},
}

func TestDecodeMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.yaml")
	if err != nil || len(files) != len(mistakes) {
		t.Errorf("testdata has %d bad files (%v), want the %d of the table", len(files), err, len(mistakes))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".bad.yaml")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var (
				into config
				got  []string
				want []string
			)
			_, errs := strictyaml.Decode(name, data, &into, strictyaml.WithExpand(expand))
			for _, e := range errs {
				got = append(got, e.Error())
			}
			for _, m := range mistakes[name] {
				want = append(want, name+":"+m)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Decode(%s) mistakes differ (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestDecodeBounds(t *testing.T) {
	t.Run("file too large", func(t *testing.T) {
		_, errs := strictyaml.Decode("f", make([]byte, 8<<20+1), new(config))
		if want := "f:1:1: file of 8388609 bytes, expected at most 8 MiB"; len(errs) != 1 || errs[0].Error() != want {
			t.Errorf("Decode() = %v, want %q", errs, want)
		}
	})
	t.Run("too many mistakes", func(t *testing.T) {
		var b strings.Builder
		for i := range 5000 {
			fmt.Fprintf(&b, "k%d: 1\n", i)
		}
		_, errs := strictyaml.Decode("f", []byte(b.String()), new(struct{}))
		if want := "f:101:1: 4900 more mistakes from here on"; len(errs) != 101 || errs[100].Error() != want {
			t.Errorf("Decode() = %d mistakes, last %v, want 101 and %q", len(errs), errs[len(errs)-1], want)
		}
	})
	t.Run("densest file that fits", func(t *testing.T) {
		data := []byte("listeners: {" + strings.Repeat("a,", (1<<20-13)/2) + "}")
		_, errs := strictyaml.Decode("f", data, new(config))
		if want := "f:1:12: listeners: expected a list, got a mapping"; len(errs) != 1 || errs[0].Error() != want {
			t.Errorf("Decode() = %v, want %s", errs, want)
		}
	})
	t.Run("message with a long value", func(t *testing.T) {
		_, errs := strictyaml.Decode("f", []byte("ratio: "+strings.Repeat("é", 10000)), new(config))
		if len(errs) != 1 || len(errs[0].Error()) > 200 {
			t.Errorf("Decode() = %v, want one short mistake", errs)
		}
	})
}

func TestDecodePanics(t *testing.T) {
	tests := []struct {
		name string
		into any
	}{
		{"no pointer", config{}},
		{"nil pointer", (*config)(nil)},
		{"channel", &struct{ A chan int }{}},
		{"function", &struct{ A func() }{}},
		{"map without string keys", &struct{ A map[int]int }{}},
		{"inline pointer", &struct {
			*Inner `yaml:",inline"`
		}{}},
		{"key twice", &struct {
			A int `yaml:"a"`
			B int `yaml:"a"`
		}{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if r := recover(); !strings.HasPrefix(fmt.Sprint(r), "internal error: ") {
					t.Errorf("Decode() panics with %v, want an internal error", r)
				}
			}()
			strictyaml.Decode("f", []byte("a: 1"), tt.into)
		})
	}
}

// A value of a type of WithType is decoded strictly, with the position of each mistake.
func TestWithType(t *testing.T) {
	type pair struct{ first, second string }
	var got struct {
		Pairs []pair `yaml:"pairs"`
	}
	decode := func(unmarshal func(any) error) (pair, error) {
		var keys struct{ A, B string }
		err := unmarshal(&keys)
		return pair{keys.A, keys.B}, err
	}
	_, mistakes := strictyaml.Decode("f.yml", []byte("pairs:\n  - {a: x, b: y}\n  - {a: z, c: 1}\n"), &got, strictyaml.WithType(decode))
	if len(got.Pairs) != 2 || got.Pairs[0] != (pair{"x", "y"}) || got.Pairs[1] != (pair{"z", ""}) {
		t.Errorf("Decode() = %v, want both pairs", got.Pairs)
	}
	if len(mistakes) != 1 || mistakes[0].Error() != `f.yml:3:12: pairs[1]: unknown key "c", expected one of a, b` {
		t.Errorf("Decode() reports %v, want the unknown key with its position", mistakes)
	}
}
