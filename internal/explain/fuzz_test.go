package explain

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzText reads the answer of a daemon, which may be another program, and prints it for
// people: lines of bounded length, without control characters.
func FuzzText(f *testing.F) {
	whole, err := json.Marshal(everything())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, true)
	f.Add([]byte(`{"state":"ready","verdict":"\u001b[2J","rules":[null,{"tree":{"children":[null]},"alerts":[{}]}],"collectors":[{"name":"\u0000"}]}`), true)
	f.Add([]byte(`{"state":"ready","rules":[{"tree":{"kind":"comparison","comparison":{},"series":[{"value":"NaN"},{"value":"+Inf"},{"value":1e400}]}}]}`), false)
	f.Add([]byte(`{"state":"ready","rules":[{"name":"a","decides":true,"tree":{"kind":"vector matching","series":[{"labels":{"":""}}],"count":-1}}],"at":"0000-01-01T00:00:00Z"}`), true)
	f.Fuzz(func(t *testing.T, body []byte, all bool) {
		x, err := Read(body)
		if err != nil {
			return
		}
		text := Text(x, all, "")
		if !utf8.ValidString(text) || !strings.HasSuffix(text, " UTC, generation "+text[strings.LastIndex(text, " ")+1:]) {
			t.Errorf("Text() ends in %q, want UTF-8 and the generation", text[max(0, len(text)-64):])
		}
		for line := range strings.SplitSeq(text, "\n") {
			if len(line) > 2*maxLine+maxColumn || strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("line %q, want a bounded one without control characters", line)
			}
		}
	})
}

// FuzzNumber reads numbers as the API writes them.
func FuzzNumber(f *testing.F) {
	for _, text := range []string{`1`, `"NaN"`, `"+Inf"`, `"-Inf"`, `"1"`, `1e400`, `-0`, `null`, `"Inf"`, `0x1p-2`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var n, again Number
		if json.Unmarshal(data, &n) != nil {
			return
		}
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &again); err != nil || !cmp.Equal(n.String(), again.String()) {
			t.Errorf("%s = %s, written as %s = %s, %v, want the same", data, n, text, again, err)
		}
	})
}
