package script

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
)

// shortPerfdata renders performance data, as in "label 1 none w2 c3 min4 max5".
func shortPerfdata(data []perfdatum) string {
	var all []string
	for _, d := range data {
		text := fmt.Sprintf("%s %v %s", d.label, d.value, d.unit)
		for i, name := range []string{"w", "c", "min", "max"} {
			if d.limits[i] != nil {
				text += fmt.Sprintf(" %s%v", name, *d.limits[i])
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestPerfdata(t *testing.T) {
	const expected = "expected 'label'=value[UOM];[warn];[crit];[min];[max]"
	tests := []struct{ name, text, want, err string }{
		{"none", " \n\t", "", ""},
		{"number", "a=1", "a 1 none", ""},
		{"several", "a=1 b=-2.5\tc=.5 d=+3. e=1e3\nf=0", "a 1 none, b -2.5 none, c 0.5 none, d 3 none, e 1000 none, f 0 none", ""},
		{"limits", "/=2643MB;5948;5958;0;5968", "/ 2.771386368e+09 bytes w6.236930048e+09 c6.247415808e+09 min0 max6.257901568e+09", ""},
		{"limits that are ranges", "t=1;10:;~:20;;30", "t 1 none max30", ""},
		{"ranges of all kinds", "a=1;@10:20;10:20 b=1;5:", "a 1 none, b 1 none", ""},
		{"empty limits", "a=1;;;; b=2;", "a 1 none, b 2 none", ""},
		{"a sixth field that is empty", "a=1;;;;;", "a 1 none", ""},
		{"seconds", "a=1s b=2ms c=3us d=4µs e=5ns;10", "a 1 seconds, b 0.002 seconds, c 3e-06 seconds, d 4e-06 seconds, e 5e-09 seconds w1e-08", ""},
		{"bytes", "a=1B b=1KB c=1kB d=1GB e=1TB f=1PB g=1KiB h=1MiB i=1GiB j=1TiB k=1PiB", "a 1 bytes, b 1024 bytes, c 1024 bytes, d 1.073741824e+09 bytes, e 1.099511627776e+12 bytes, f 1.125899906842624e+15 bytes, g 1024 bytes, h 1.048576e+06 bytes, i 1.073741824e+09 bytes, j 1.099511627776e+12 bytes, k 1.125899906842624e+15 bytes", ""},
		{"percent", "a=42%;80;90;0;100", "a 0.42 ratio w0.8 c0.9 min0 max1", ""},
		{"counter", "a=17c", "a 17 count", ""},
		{"another unit", "a=230V b=3.5km/h", "a 230 V, b 3.5 km/h", ""},
		{"undetermined", "a=U b=1 c=U;1;2", "b 1 none", ""},
		{"label in quotes", "'used space'=1 'a=b'=2 'it''s'=3", "used space 1 none, a=b 2 none, it's 3 none", ""},
		{"label is cleaned", "'a\x01b\xff'=1", "a b\uFFFD 1 none", ""},
		{"label is cut", strings.Repeat("x", 200) + "=1", strings.Repeat("x", 128) + " 1 none", ""},
		{"label twice", "a=1 a=2 b=3", "a 1 none, b 3 none", "datum 2: expected each label once"},
		{"no label", "=1 b=2", "b 2 none", "datum 1: " + expected},
		{"no value", "a= b=2", "b 2 none", "datum 1: " + expected},
		{"no equals sign", "a b=2 c", "b 2 none", "datum 1: " + expected},
		{"a quote that stays open", "b=2 'a=1", "b 2 none", "datum 2: " + expected},
		{"a comma in the number", "a=1,5 b=2", "b 2 none", "datum 1: " + expected},
		{"no number", "a=nan b=inf c=0x10", "", "datum 1: " + expected},
		{"a number that is too large", "a=1e999 b=2;1e999", "b 2 none", "datum 1: " + expected},
		{"too many fields", "a=1;2;3;4;5;6", "", "datum 1: " + expected},
		{"too many", "a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 j=10 k=11 l=12", "a 1 none, b 2 none, c 3 none, d 4 none, e 5 none, f 6 none, g 7 none, h 8 none, i 9 none, j 10 none, k 11 none", "more than 11 data"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := parsePerfdata(tt.text, 11)
			if diff := cmp.Diff(tt.want, shortPerfdata(data)); diff != "" {
				t.Errorf("parsePerfdata() (-want +got):\n%s", diff)
			}
			if got := perfdataError(err); got != tt.err {
				t.Errorf("parsePerfdata() = %q, want %q", got, tt.err)
			}
		})
	}
}

func perfdataError(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Performance data follow bars in two places.
func TestPluginOutput(t *testing.T) {
	tests := []struct{ name, output, text, data string }{
		{"text only", "OK\n", "OK", ""},
		{"text and data", "OK - fine | a=1 b=2\n", "OK - fine ", " a=1 b=2"},
		{"long text", "OK\nmore\nand more\n", "OK", ""},
		{"data in both places", "OK | a=1\nmore\nand more | b=2\nc=3\n", "OK ", " a=1\n b=2\nc=3\n"},
		{"data below only", "OK\nmore | b=2", "OK", "\n b=2"},
		{"nothing", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if text, data := splitPlugin(tt.output); text != tt.text || data != tt.data {
				t.Errorf("splitPlugin(%q) = %q, %q, want %q, %q", tt.output, text, data, tt.text, tt.data)
			}
		})
	}
}

// For every output, the number of data is bounded, each has a unique label of bounded length, and
// all numbers are finite.
func FuzzPerfdata(f *testing.F) {
	for _, seed := range []string{"a=1", "'a b'=1ms;2;3;0;10 c=U", "/=2643MB;5948;5958;0;5968", "'=1", "a=1e308KB", "'''''=1;;;;", "=", "\xff=\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const limit = 5
		data, _ := parsePerfdata(text, limit)
		if len(data) > limit {
			t.Errorf("%d data, want at most %d", len(data), limit)
		}
		seen := map[string]bool{}
		for _, d := range data {
			if seen[d.label] || d.label == "" || len(d.label) > maxLabel || !model.LabelValue(d.label).IsValid() {
				t.Errorf("label %q, want a unique one of bounded length", d.label)
			}
			seen[d.label] = true
			if d.unit == "" || len(d.unit) > 32 || !utf8.ValidString(d.unit) {
				t.Errorf("unit %q, want a short one", d.unit)
			}
			for _, n := range append(slices.Clone(d.limits[:]), &d.value) {
				if n != nil && (math.IsNaN(*n) || math.IsInf(*n, 0)) {
					t.Errorf("%s has the number %v, want a finite one", d.label, *n)
				}
			}
		}
	})
}

// For every output, the number of objects is bounded and each has a unique name of bounded length.
// Without an error or a message, all of them are OK.
func FuzzCategoryLines(f *testing.F) {
	for _, seed := range []string{"Cat\nD1:OK\nD3:text\n", "Cat", "", "\n\n:\n:OK\n", "Cat\nD1:OK\nD1:OK", "\xff\n\xff:\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, output string) {
		const limit = 5
		category, objects, wrong, err := parseCategoryLines(output, limit)
		if len(objects) > limit || len(wrong) > len(objects) || !model.LabelValue(category).IsValid() || len(category) > maxLabel {
			t.Errorf("%d objects of category %q, %d of them wrong, want at most %d", len(objects), category, len(wrong), limit)
		}
		seen := map[string]bool{}
		for _, o := range objects {
			if seen[o.name] || o.name == "" || len(o.name) > maxLabel || !model.LabelValue(o.name).IsValid() {
				t.Errorf("object %q, want a unique one of bounded length", o.name)
			}
			seen[o.name] = true
			if !o.ok && len(wrong) == 0 {
				t.Errorf("object %q is not OK, and nothing is wrong", o.name)
			}
		}
		if err == nil && len(objects) == 0 {
			t.Error("no object and no error, want one of them")
		}
	})
}
