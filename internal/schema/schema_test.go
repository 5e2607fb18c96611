package schema_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/schema"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

// accepts reports whether a schema accepts a YAML document.
type accepts func(yaml []byte) error

func compiled(t *testing.T, name string, text []byte) accepts {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		var document any
		if err := yaml.Unmarshal(text, &document); err != nil {
			return err
		}
		return s.Validate(document)
	}
}

// decodes reports whether the strict decoder takes a configuration. That the keys of a process
// are not empty is no matter of the schema, in which every value may be.
func decodes(text []byte) error {
	_, mistakes := strictyaml.Decode("vitals.yml", text, &config.Config{}, strictyaml.WithExpand(func(s string) (string, error) {
		return os.ExpandEnv(s), nil
	}))
	for _, m := range mistakes {
		if !strings.Contains(m.Text, "is empty: expected a value") {
			return m
		}
	}
	return nil
}

// loads reports whether a configuration has no mistake at all.
func loads(text []byte) error {
	if _, errs := config.Load(config.NewSources(), "vitals.yml", text, nil); len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// parses reports whether rules have no mistake.
func parses(text []byte) error {
	if _, errs := rules.ParseAll("rules.yml", text, []string{"ready", "alive", "started"}); len(errs) > 0 {
		return errs[0]
	}
	return nil
}

var fence = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// documents returns every YAML document of the repository's files and pages.
func documents(t *testing.T) (all [][]byte) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".yml", ".yaml":
			text, err := os.ReadFile(path)
			all = append(all, text)
			return err
		case ".md":
			text, err := os.ReadFile(path)
			for _, block := range fence.FindAllSubmatch(text, -1) {
				all = append(all, block[1])
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// corpus returns the documents that a check of the program accepts, at least a number of them.
func corpus(t *testing.T, has string, valid accepts, least int) (found [][]byte) {
	t.Helper()
	for _, text := range documents(t) {
		if bytes.Contains(text, []byte(has)) && valid(text) == nil {
			found = append(found, text)
		}
	}
	if len(found) < least {
		t.Fatalf("found %d documents, want at least %d", len(found), least)
	}
	return found
}

// changed returns a document with one change: a key that is removed or misspelt, or a value
// of another kind.
func changed(t *testing.T, r *rand.Rand, text []byte) []byte {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	var mappings []*yaml.Node
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode && len(n.Content) > 0 {
			mappings = append(mappings, n)
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(&root)
	m := mappings[r.IntN(len(mappings))]
	i := r.IntN(len(m.Content)/2) * 2
	switch r.IntN(3) {
	case 0:
		m.Content = append(m.Content[:i:i], m.Content[i+2:]...)
	case 1:
		m.Content[i] = &yaml.Node{Kind: yaml.ScalarNode, Value: m.Content[i].Value + "x"}
	default:
		values := []string{"5", "1.5", "true", "text", "10s", "20MiB", "null", "[]", "[a]", "{}", "{a: b}", "-1"}
		var value yaml.Node
		if err := yaml.Unmarshal([]byte(values[r.IntN(len(values))]), &value); err != nil {
			t.Fatal(err)
		}
		m.Content[i+1] = value.Content[0]
	}
	out, err := yaml.Marshal(&root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// agree changes each document many times. The schema must accept what the program accepts,
// and refuse what refused refuses.
func agree(t *testing.T, all [][]byte, schema, valid, refused accepts) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var accepted, rejected int
	for _, text := range all {
		if err := schema(text); err != nil {
			t.Fatalf("the schema refuses a valid document: %v\n%s", err, text)
		}
		for range 1500 / len(all) {
			text := changed(t, r, text)
			err := schema(text)
			switch {
			case valid(text) == nil:
				accepted++
				if err != nil {
					t.Fatalf("the schema refuses a valid document: %v\n%s", err, text)
				}
			case refused(text) != nil:
				rejected++
				if err == nil {
					t.Fatalf("the schema accepts what the decoder refuses: %v\n%s", refused(text), text)
				}
			}
		}
	}
	if accepted < 100 || rejected < 100 {
		t.Errorf("%d changes were valid and %d invalid, want at least 100 each", accepted, rejected)
	}
}

func TestConfigSchemaAgreesWithTheDecoder(t *testing.T) {
	for name, value := range map[string]string{"EVERY": "5s", "STATUS": "500", "FOLLOW": "true"} {
		t.Setenv(name, value)
	}
	variables := []byte("evaluation_interval: ${EVERY}\nserver: {failing_status: \"${STATUS}\"}\ncollectors: [{name: a, http: {url: \"http://a\", follow_redirects: \"${FOLLOW}\"}}]\n")
	all := append(corpus(t, "collectors:", loads, 20), variables)
	agree(t, all, compiled(t, schema.ConfigName, schema.Config()), loads, decodes)
}

func TestRulesSchemaAgreesWithTheParser(t *testing.T) {
	// Mistakes of the decoder only: a schema has no PromQL and no templates.
	shape := regexp.MustCompile(`unknown key|expected a (list|mapping|single text|whole number|duration such as 10s or 5m), got`)
	unknown := func(text []byte) error {
		if err := parses(text); err != nil && shape.MatchString(err.Error()) {
			return err
		}
		return nil
	}
	agree(t, corpus(t, "groups:", parses, 100), compiled(t, schema.RulesName, schema.Rules()), parses, unknown)
}

// Each shipped file names its schema, so that an editor completes and checks a copy of it.
func TestShippedFilesNameTheirSchema(t *testing.T) {
	for pattern, name := range map[string]string{"../profiles/*.yml": schema.ConfigName, "../../rules/builtin/*.yml": schema.RulesName} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("Glob(%q) = %v, %v, want files", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if first, _, _ := strings.Cut(string(text), "\n"); first != schema.Modeline(name) {
				t.Errorf("%s begins with %q, want %q", file, first, schema.Modeline(name))
			}
		}
	}
}
