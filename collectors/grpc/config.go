package grpc

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/discovery"
	"github.com/vitals-health/vitals/collectors/remote"
)

// Config configures the kind grpc: one call of grpc.health.v1.Health/Check.
type Config struct {
	// Address is host:port or unix:/path.
	Address string `yaml:"address"`
	// Several has several addresses in place of Address.
	discovery.Several `yaml:",inline"`
	// Service is the name of a service of the server; empty for the server as a whole.
	Service string `yaml:"service,omitempty"`
	// TLS is used if it is set. Its server_name is also the authority of the call.
	TLS *remote.ClientTLS `yaml:"tls,omitempty"`
	// Metadata is sent with the call. MetadataFiles are files with values, which are read in
	// every collection, without the white space around their content.
	Metadata      map[string]collectors.Secret `yaml:"metadata,omitempty"`
	MetadataFiles map[string]string            `yaml:"metadata_files,omitempty"`
}

// maxService bounds the name of a service in bytes.
const maxService = 1024

// metadataKey matches what gRPC allows as a key of text values, in lower case.
var metadataKey = regexp.MustCompile(`^[0-9a-z_.-]+$`)

// address is where a server listens.
type address struct {
	network, to string
	// host is the host without the port, "localhost" for a Unix socket.
	host string
}

func parseAddress(text string) (address, error) {
	if socket, ok := strings.CutPrefix(text, "unix:"); ok {
		if !filepath.IsAbs(socket) || len(socket) > remote.MaxSocketPath {
			return address{}, fmt.Errorf("expected the absolute path of a socket with at most %d bytes", remote.MaxSocketPath)
		}
		return address{"unix", socket, "localhost"}, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || strings.ContainsAny(host, "/@ ") || !remote.ValidPort(port) {
		return address{}, fmt.Errorf("expected host:port, [address]:port or unix:/path")
	}
	return address{"tcp", net.JoinHostPort(host, port), host}, nil
}

// TargetNames implements collectors.Several.
func (c *Config) TargetNames(collector string) ([]collectors.TargetName, bool) {
	return c.targets().Names(collector)
}

// targets returns the targets, nil if there is only one.
func (c *Config) targets() *discovery.Targets {
	return c.Of(discovery.Plan{Key: "address", Set: c.Address != "", Label: "dependency", Example: "target.example:1", One: func(address string) collectors.Kind {
		one := *c
		one.Several, one.Address = discovery.Several{}, address
		return &one
	}})
}

// Problems implements collectors.Kind.
func (c *Config) Problems() []collectors.Problem {
	if t := c.targets(); t != nil {
		return t.Problems()
	}
	var problems []collectors.Problem
	add := func(path, format string, args ...any) {
		problems = append(problems, collectors.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
	}
	at, err := parseAddress(c.Address)
	if err != nil {
		add("address", "address %q: %v", c.Address, err)
	}
	if len(c.Service) > maxService {
		add("service", "service has %d bytes: expected at most %d", len(c.Service), maxService)
	}
	problems = append(problems, c.TLS.Problems("tls")...)
	if c.TLS != nil && at.network == "unix" && c.TLS.ServerName == "" && !c.TLS.InsecureSkipVerify {
		add("tls.server_name", "no server_name: expected the name in the certificate, as a Unix socket has none")
	}
	for _, key := range slices.Sorted(maps.Keys(c.Metadata)) {
		problems = append(problems, keyProblems("metadata", key)...)
		if !printable(c.Metadata[key].Value()) {
			add("metadata["+key+"]", "expected printable ASCII")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.MetadataFiles)) {
		problems = append(problems, keyProblems("metadata_files", key)...)
		problems = append(problems, remote.SecretPathProblem("metadata_files["+key+"]", c.MetadataFiles[key])...)
		if _, twice := c.Metadata[key]; twice {
			add("metadata_files["+key+"]", "key %q: expected it in metadata or metadata_files", key)
		}
	}
	return problems
}

func keyProblems(path, key string) []collectors.Problem {
	if metadataKey.MatchString(key) && !strings.HasPrefix(key, "grpc-") && !strings.HasSuffix(key, "-bin") && !slices.Contains(ownHeaders(), key) {
		return nil
	}
	return []collectors.Problem{{Path: path + "[" + key + "]", Text: fmt.Sprintf("key %q: expected lower-case letters, digits, '-', '_' and '.', and no key of gRPC or HTTP, and no binary value (-bin)", key)}}
}

// ownHeaders are the headers of the call itself and of connections.
func ownHeaders() []string {
	return []string{"connection", "content-length", "content-type", "host", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"}
}

// printable reports whether a text may be a value of metadata.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// External implements collectors.Kind. A server on loopback or behind a Unix socket is on this host.
func (c *Config) External() bool {
	if t := c.targets(); t != nil {
		return t.External()
	}
	at, err := parseAddress(c.Address)
	return err != nil || at.network != "unix" && !remote.LocalHost(at.host)
}

// Uses implements collectors.Kind.
func (c *Config) Uses() []string { return nil }

// ConfigurableTarget implements collectors.Targeted.
func (c *Config) ConfigurableTarget() {}

// SecretValue implements collectors.SecretFinder: the values of metadata may be credentials under
// any name, and those of metadata_files are paths.
func (c *Config) SecretValue(path string) (secret, decided bool) {
	if strings.HasPrefix(path, "metadata_files") {
		return false, true
	}
	inMetadata := strings.HasPrefix(path, "metadata.") || strings.HasPrefix(path, "metadata[")
	return inMetadata, inMetadata
}

// New implements collectors.Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	if t := c.targets(); t != nil {
		return t.New(env)
	}
	at, err := parseAddress(c.Address)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", c.Address, err)
	}
	return &collector{name: env.Name, config: *c, address: at, hide: env.Hide}, nil
}
