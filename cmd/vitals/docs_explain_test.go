package main

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vitals-health/vitals/internal/explain"
)

const explainPage = "docs/guides/troubleshooting.md"

// withoutTimes replaces times, ages and addresses in an explanation. Before midnight a time that
// is an hour ahead has a date.
func withoutTimes(text string) string {
	for _, cut := range [][2]string{
		{`\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} UTC`, "DATE UTC"}, {`(\d{4}-\d{2}-\d{2} )?\d{2}:\d{2}:\d{2}`, "TIME"}, {`\((in )?(\d+[dhms])+\)`, "(${1}AGE)"},
		{`just now|(\d+[dhms])+ ago`, "AGE ago"}, {`, for \d+s:`, ", for SPAN:"}, {`generation \d+`, "generation N"}, {`http://[^/]+/`, "http://HOST/"},
	} {
		text = regexp.MustCompile(cut[0]).ReplaceAllString(text, cut[1])
	}
	return text
}

// The transcripts of the page are the output of "vitals explain" for the demo, with the
// quota of ports used up and Keystone hanging.
func TestTroubleshootingPageShowsExplanations(t *testing.T) {
	t.Parallel()
	lab := startDemo(t, labOptions{pace: demoPace, patience: time.Second}, 0)
	lab.awaitVerdicts(t, demoPass, demoPass)
	lab.press(t, "neutron", "exhaust-ports")
	lab.awaitVerdicts(t, "fail QuotaExhausted", demoPass)
	lab.press(t, "keystone", "hang")
	checked := 0
	for _, block := range docFences(explainPage, readDoc(t, explainPage), "text") {
		command, shown, _ := strings.Cut(block.text, "\n")
		args, ok := strings.CutPrefix(command, "$ vitals explain ")
		if !ok {
			continue
		}
		checked++
		soon(t, func() string {
			var out, errs bytes.Buffer
			if code := run(append([]string{"explain", "--url=" + lab.web.URL}, strings.Fields(args)...), &out, &errs); code != exitOK {
				t.Fatalf("%s = %d %s, want 0", command, code, &errs)
			}
			if diff := cmp.Diff(withoutTimes(out.String()), withoutTimes(shown)); diff != "" {
				return fmt.Sprintf("%s differs from the output (-output +shown):\n%s\noutput:\n%s", block.where, diff, &out)
			}
			return ""
		})
	}
	if checked != 2 {
		t.Errorf("%s has %d transcripts of vitals explain, want 2", explainPage, checked)
	}
}

// keysOf adds the JSON keys of a type and of the types of its fields.
func keysOf(typ reflect.Type, keys map[string]bool, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || seen[typ] {
		return
	}
	seen[typ] = true
	for i := range typ.NumField() {
		key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		keys[key] = true
		keysOf(typ.Field(i).Type, keys, seen)
	}
}

// The keys on the page are keys of an explanation in JSON.
func TestEndpointPageListsTheKeysOfExplanations(t *testing.T) {
	keys := map[string]bool{"/api/v1/status": true}
	keysOf(reflect.TypeFor[explain.Explanation](), keys, map[reflect.Type]bool{})
	for _, kind := range []string{
		explain.KindSelector, explain.KindRange, explain.KindSubquery, explain.KindComparison, explain.KindArithmetic, explain.KindSet,
		explain.KindAggregation, explain.KindFunction, explain.KindNumber, explain.KindString,
	} {
		keys[kind] = true
	}
	tables := docTables(readDoc(t, endpointPage), "in the JSON")
	if len(tables) != 1 || len(tables[0].rows) < 5 {
		t.Fatalf("%s has %d tables of the JSON, want one", endpointPage, len(tables))
	}
	for _, row := range tables[0].rows {
		for _, span := range codeSpans(strings.Join(row, " ")) {
			if !keys[span] {
				t.Errorf("%s lists the key %s, which an explanation does not have", endpointPage, span)
			}
		}
	}
}
