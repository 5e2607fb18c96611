package collectors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/collectors"
)

func TestSecretIsNeverPrinted(t *testing.T) {
	const value = "correct-horse"
	s := collectors.Secret(value)
	holder := struct {
		Password collectors.Secret `yaml:"password" json:"password"`
	}{s}

	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%X", "%d", "%t", "%10s", "%!"} {
		for what, arg := range map[string]any{"value": s, "pointer": &s, "struct": holder, "slice": []collectors.Secret{s}, "key": map[collectors.Secret]int{s: 1}} {
			if got := fmt.Sprintf(verb, arg); strings.Contains(got, value) || strings.Contains(got, fmt.Sprintf("%x", value)) {
				t.Errorf("Sprintf(%q, %s) = %s, want no secret in it", verb, what, got)
			}
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("password", "password", s, "holder", holder)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("password", "password", s, "holder", holder)
	inYAML, err := yaml.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	inJSON, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]string{"slog": log.String(), "yaml": string(inYAML), "json": string(inJSON)} {
		if strings.Contains(got, value) || !strings.Contains(got, "secret") {
			t.Errorf("%s shows %s, want <secret> in the value's place", what, got)
		}
	}
}

func TestSecretDecodesLikeAString(t *testing.T) {
	var got struct{ Password collectors.Secret }
	if err := yaml.Unmarshal([]byte("password: correct-horse"), &got); err != nil {
		t.Fatal(err)
	}
	if got.Password.Value() != "correct-horse" {
		t.Errorf("Value() = %q, want %q", got.Password.Value(), "correct-horse")
	}
}

func TestEmptySecretIsPrintedAsEmpty(t *testing.T) {
	var s collectors.Secret
	if s.String() != "" || s.GoString() != `""` {
		t.Errorf("String(), GoString() = %q, %q, want nothing", s.String(), s.GoString())
	}
}
