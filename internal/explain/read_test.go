package explain

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	want := everything()
	body, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(body)
	if err != nil {
		t.Fatalf("Read() = %v, want nil", err)
	}
	if diff := cmp.Diff(Text(want, true, ""), Text(got, true, "")); diff != "" {
		t.Errorf("Text() of what was read (-want +got):\n%s", diff)
	}
}

// Answers of other programs, which Text could not print.
func TestReadOfAnythingElse(t *testing.T) {
	deep := strings.Repeat(`{"children":[`, 2000) + strings.Repeat(`]}`, 2000)
	for name, body := range map[string]string{
		"nothing":            "",
		"an empty object":    "{}",
		"null":               "null",
		"no rule":            `{"state":"ready","rules":[null]}`,
		"no part":            `{"state":"ready","rules":[{"tree":{"children":[null]}}]}`,
		"no part recorded":   `{"state":"ready","rules":[{"tree":{"recordings":[{"tree":{"children":[null]}}]}}]}`,
		"deciding of none":   `{"state":"ready","rules":[{"tree":{"deciding":1}}]}`,
		"deciding below 0":   `{"state":"ready","rules":[{"tree":{"deciding":-1}}]}`,
		"parts without end":  `{"state":"ready","rules":[{"tree":` + deep + `}]}`,
		"a number of a text": `{"state":"ready","rules":[{"tree":{"value":"one"}}]}`,
	} {
		if x, err := Read([]byte(body)); err == nil {
			t.Errorf("%s: Read() = %+v, nil, want an error", name, x)
		}
	}
}
