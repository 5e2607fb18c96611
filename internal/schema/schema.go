// Package schema holds the JSON Schemas of the configuration and of rule files. Editors
// complete and check YAML with them.
//
// The schemas accept what Vitals accepts. They also accept some mistakes that a schema cannot
// express, such as an invalid PromQL expression: the checks of the program find those.
package schema

import "embed"

//go:embed *.schema.json
var files embed.FS

const (
	// ConfigName is the name of the file with the schema of the configuration.
	ConfigName = "vitals.schema.json"
	// RulesName is the name of the file with the schema of rule files.
	RulesName = "rules.schema.json"
	// Mark begins the comment of both.
	Mark = "Made by vitals generate schema."
	// published is the address of the folder of the schemas.
	published = "https://raw.githubusercontent.com/vitals-health/vitals/main/internal/schema/"
)

// Modeline returns the first line of a YAML file, by which editors find its schema.
func Modeline(name string) string { return "# yaml-language-server: $schema=" + published + name }

// Config returns the schema of the configuration file.
func Config() []byte { return read(ConfigName) }

// Rules returns the schema of rule files and of PrometheusRule objects.
func Rules() []byte { return read(RulesName) }

// read returns an embedded file. The caller owns it.
func read(name string) []byte {
	data, err := files.ReadFile(name)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return data
}
