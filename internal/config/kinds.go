// Package config reads the configuration file with all kinds of collectors: see configfile.
package config

import (
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/configfile"
	"github.com/vitals-health/vitals/rules"
)

type (
	// Config is the configuration file.
	Config = configfile.Config[kinds.Config]
	// Loaded is a configuration that has been read and checked, with all its rules.
	Loaded = configfile.Loaded[kinds.Config]
	// Builder makes the collectors of a configuration and the configuration of the evaluator.
	Builder = configfile.Builder[kinds.Config]
	// Reloader loads the configuration again on request or when a file has changed.
	Reloader = configfile.Reloader[kinds.Config]
	// StateConfig configures one state.
	StateConfig = configfile.StateConfig
	// ServerConfig configures the HTTP server.
	ServerConfig = configfile.ServerConfig
	// Sources records the files of a configuration.
	Sources = configfile.Sources
)

const (
	// DefaultListen is the address that run listens on unless a flag or the configuration sets
	// another.
	DefaultListen = configfile.DefaultListen
	// BuiltinPrefix marks the name of a shipped rule file.
	BuiltinPrefix = configfile.BuiltinPrefix
)

// Kinds returns all kinds, with templates in rules.
func Kinds() configfile.Kinds[kinds.Config] {
	return configfile.Kinds[kinds.Config]{New: kinds.New, Templates: rules.Templates()}
}

// LoadFile reads the configuration file and all files that it names. It returns all errors
// at once, in the order of the file. The first result is never nil: with errors it still
// has its sources.
func LoadFile(path string) (*Loaded, []error) { return configfile.LoadFile(Kinds(), path) }

// Load reads and checks a configuration. adjust, unless it is nil, changes the
// configuration before it is checked.
func Load(from *Sources, path string, data []byte, adjust func(*Config) []error) (*Loaded, []error) {
	return configfile.Load(Kinds(), from, path, data, adjust)
}

// NewSources returns sources without any file.
func NewSources() *Sources { return configfile.NewSources() }

// ReadFile reads a file of at most 8 MiB. It limits the bytes that it reads, because a
// device or a pipe has no size. A pipe without a writer is an error.
func ReadFile(path string) ([]byte, error) { return configfile.ReadFile(path) }

// IsListenAddress reports whether a has the form of an address to listen on. The exporter
// toolkit accepts vsock addresses as well.
func IsListenAddress(a string) bool { return configfile.IsListenAddress(a) }

// ForFile returns the options for a rule file: a shipped one has the default label of the
// state.
func ForFile(opts rules.Options, name string) rules.Options { return configfile.ForFile(opts, name) }

// ShippedRules returns the names of the rule files inside the program.
func ShippedRules() []string { return configfile.ShippedRules() }

// CountRules returns the number of rules in files.
func CountRules(files []*rules.File) int { return configfile.CountRules(files) }
