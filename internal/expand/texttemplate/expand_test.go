package texttemplate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/expand"
	"github.com/vitals-health/vitals/internal/expand/texttemplate"
)

func TestExpandIsBounded(t *testing.T) {
	grow := func(body string) string { return `{{ $x := "xxxxxxxxxx" }}{{ range 100 }}` + body + `{{ end }}` }
	tests := []struct{ name, text, want string }{
		{"output beyond 64 KiB", "{{ range 9000 }}12345678{{ end }}", "bytes"},
		{"one range of many steps", "{{ range 10001 }}{{ end }}", "steps"},
		{"nested ranges of many steps", "{{ range 200 }}{{ range 200 }}{{ end }}{{ end }}", "steps"},
		{"range over the largest number", "{{ range 9223372036854775807 }}{{ end }}", "steps"},
		{"templates without end", `{{ define "x" }}{{ template "x" }}{{ end }}{{ template "x" }}`, "deep"},
		{"templates that fork", `{{ define "x" }}{{ if lt (len .) 30 }}{{ template "x" (print . 0) }}{{ template "x" (print . 0) }}{{ end }}{{ end }}{{ template "x" "" }}`, "steps"},
		{"string that doubles by print", grow(`{{ $x = print $x $x }}`), "work"},
		{"string that doubles by printf", grow(`{{ $x = printf "%s%s" $x $x }}`), "work"},
		{"string that grows by html", grow(`{{ $x = html (print $x "<") $x }}`), "work"},
		{"string that grows by reReplaceAll", grow(`{{ $x = reReplaceAll "." "$0$0" $x }}`), "work"},
		{"arguments that double", grow(`{{ $x = args $x $x }}`) + "{{ $x }}", "work"},
		{"string that doubles by a method", `{{ $t := toTime 29808000 }}{{ $x := "1" }}{{ range 100 }}{{ $x = $t.Format $x }}{{ end }}`, "work"},
		{"string that doubles by a method in a pipeline", `{{ $t := toTime 29808000 }}{{ $x := "1" }}{{ range 100 }}{{ $x = $x | $t.Format }}{{ end }}`, "work"},
		{"a wide number", `{{ printf "` + strings.Repeat("%999999d", 10) + `" 1 }}`, "work"},
		{"a wide number by argument", `{{ printf "` + strings.Repeat("%[1]*[1]d", 10) + `" 999999 }}`, "work"},
		{"one argument many times", `{{ $x := printf "%99999d" 1 }}{{ printf "` + strings.Repeat("%[1]s", 100) + `" $x }}`, "work"},
		{"a body of many nodes", "{{ range 9999 }}" + strings.Repeat("{{ if 0 }}{{ end }}", 1000) + "{{ end }}", "work"},
		{"an else of many nodes", "{{ range 9999 }}{{ range 0 }}{{ else }}" + strings.Repeat("{{ if 0 }}{{ end }}", 1000) + "{{ end }}{{ end }}", "work"},
		{"an endless loop in a template that is called", `{{ define "x" }}{{ range 20000 }}{{ end }}{{ end }}{{ template "x" }}`, "steps"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ours(tt.text, data(1))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Expand() = %d bytes, %v, want an error about %s", len(got), err, tt.want)
			}
		})
	}
}

func TestTheBoundsCountEachExpansionAnew(t *testing.T) {
	tmpl, err := texttemplate.Parse("x", `{{ define "t" }}.{{ end }}{{ range 4000 }}{{ template "t" }}{{ end }}{{ $labels.job }}`)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got, err := tmpl.Expand(t.Context(), data(1), nil); err != nil || len(got) != 4003 {
				t.Errorf("Expand() = %d bytes, %v, want 4003, nil", len(got), err)
			}
		})
	}
	wg.Wait()
}

func TestTheFunctionsThatMeterAreNotForTemplates(t *testing.T) {
	for _, name := range []string{"_step", "_enter", "_leave", "_charge"} {
		if _, err := texttemplate.Parse("x", "{{ "+name+" 1 }}"); err == nil {
			t.Errorf("Parse({{ %s 1 }}) = nil, want an error", name)
		}
	}
}

func TestExpandStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	tmpl, err := texttemplate.Parse("x", `{{ query "up" }}{{ range 5 }}{{ end }}`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tmpl.Expand(ctx, data(1), func(context.Context, string, time.Time) ([]expand.Sample, error) {
		cancel()
		return nil, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Expand() error = %v, want context.Canceled", err)
	}
}

func TestErrorsAreWordedAsPrometheus(t *testing.T) {
	for _, text := range []string{
		"{{ $labels.job.x }}", "a\n{{ first (query \"empty\") }}", "{{ query \"fail\" }}", "{{ if", "{{ nope }}", "{{ $value | toUpper }}", "{{ $labels.job | first }}",
		"{{ template \"none\" }}", "{{ humanize \"x\" }}", "{{ not }}", "{{ eq 1 }}",
	} {
		_, want := prometheus(text, data(3))
		_, err := ours(text, data(3))
		if err == nil || want == nil || comparable(err.Error()) != want.Error() {
			t.Errorf("Expand(%q) error = %v, want %v", text, err, want)
		}
	}
}

func TestQueryWithoutAnEngineFails(t *testing.T) {
	tmpl, err := texttemplate.Parse("x", `{{ query "up" }}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tmpl.Expand(context.Background(), data(1), nil); err == nil {
		t.Errorf("Expand() = %q, nil, want an error", got)
	}
}

func FuzzExpand(f *testing.F) {
	for _, texts := range corpus() {
		for _, text := range texts {
			f.Add(text, 3.0)
		}
	}
	f.Fuzz(func(t *testing.T, text string, value float64) {
		got, err := ours(text, data(value))
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Errorf("Expand(%q): %v", text, err)
		}
		if strings.Contains(text, "{{") && len(got) > texttemplate.MaxOutput {
			t.Errorf("Expand(%q) = %d bytes, want at most %d", text, len(got), texttemplate.MaxOutput)
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	tmpl, err := texttemplate.Parse("__alert_X", "Instance {{ $labels.instance }} is {{ $value | humanizePercentage }} full for {{ $labels.job }}.")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tmpl.Expand(context.Background(), data(0.5), nil); err != nil {
			b.Fatal(err)
		}
	}
}

func Example() {
	tmpl, err := texttemplate.Parse("__alert_DiskFull", `{{ $labels.instance }} is {{ $value | humanizePercentage }} full`)
	if err != nil {
		fmt.Println(expand.ErrorText(err))
		return
	}
	text, err := tmpl.Expand(context.Background(), expand.Data{Labels: map[string]string{"instance": "db-1"}, Value: 0.93}, nil)
	if err != nil {
		text = expand.ErrorText(err)
	}
	fmt.Println(text)
	// Output: db-1 is 93% full
}

func TestDynamic(t *testing.T) {
	for text, want := range map[string]bool{
		"plain now and query":                 false,
		"{{ $value }} of {{ $labels.x }}":     false,
		`{{ query "up" | first | value }}`:    true,
		"{{ now | toTime }}":                  true,
		"{{ if gt $value 1.0 }}high{{ end }}": false,
	} {
		tmpl, err := texttemplate.Parse("t", text)
		if err != nil {
			t.Fatalf("Parse(%q) = %v, want no error", text, err)
		}
		if got := tmpl.Dynamic(); got != want {
			t.Errorf("Dynamic() of %q = %t, want %t", text, got, want)
		}
	}
}
