package vitals_test

import (
	"context"
	"fmt"
	"os"

	"github.com/vitals-health/vitals"
	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
)

var entriesMetric = collectors.NewGauge("example_directory_entries", "Number of entries in the directory.", "directory")

// directory is a kind of collector: the number of entries in a directory.
type directory struct {
	Path string `yaml:"path"`

	name string
}

func (d *directory) SetDefaults() { d.Path = "." }

func (d *directory) Problems() []collectors.Problem {
	if d.Path == "" {
		return []collectors.Problem{{Path: "path", Text: "path is empty: expected a directory"}}
	}
	return nil
}

func (d *directory) New(env collectors.Env) (collectors.Collector, error) {
	return &directory{Path: d.Path, name: env.Name}, nil
}

func (d *directory) External() bool { return false }

func (d *directory) Metrics(name string) []collectors.Metric {
	return collectors.NewCatalog([]*collectors.Def{entriesMetric}, "directory", name).List()
}

func (d *directory) Uses() []string { return nil }

func (d *directory) Collect(context.Context) ([]collectors.Sample, error) {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		return nil, err
	}
	var b collectors.Batch
	b.Set(entriesMetric, float64(len(entries)), d.name)
	return b.Samples, nil
}

func (d *directory) Describe() []collectors.Desc {
	return collectors.Describe([]*collectors.Def{entriesMetric})
}

// A program checks its files before it is started, also with kinds of its own.
func ExampleValidate() {
	err := vitals.Validate(vitals.Options{
		Kinds:  map[string]collectors.Kind{"directory": new(directory)},
		Config: []byte("collectors:\n  - name: spool\n    directory: {paths: /var/spool}\n"),
	})
	fmt.Println(err)
	// Output: Options.Config:3:17: collectors[0].directory: unknown key "paths", did you mean "path"?
}

// A configuration may name a kind of the program, and the shipped kinds that the program names.
func Example_kind() {
	spool, err := os.MkdirTemp("", "spool")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(spool)
	v, err := vitals.New(vitals.Options{
		Kinds: map[string]collectors.Kind{"directory": new(directory), "file": new(file.Config)},
		Config: []byte(`
collectors:
  - name: spool
    directory: {path: ` + spool + `}
  - name: marker
    file: {path: ` + spool + `/ready}
`),
		Rules: []byte(`
groups:
  - name: example
    rules:
      - {alert: SpoolFull, expr: 'example_directory_entries{directory="spool"} > 100', labels: {state: ready}}
      - {alert: MarkerMissing, expr: 'vitals_file_exists{file="marker"} == 0', labels: {state: ready, severity: warning}}
`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run(v)()

	fmt.Println(get(v, "/ready"))
	// Output: 200 ok
}
