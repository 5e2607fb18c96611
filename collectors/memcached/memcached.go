// Package memcached checks that a memcached answers, and measures its memory and connections.
package memcached

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/lines"
)

// Config configures the kind memcached: whether a server answers in the text protocol, and what its
// statistics contain.
type Config struct {
	lines.Server `yaml:",inline"`
}

// Problems implements collectors.Kind.
func (c *Config) Problems() []collectors.Problem {
	problems := c.Server.Problems()
	if c.HasLogin() && c.Username == "" {
		problems = append(problems, collectors.Problem{Path: "username", Text: "no username: expected one, because memcached has no login by a password alone"})
	}
	return problems
}

// New implements collectors.Kind.
func (c *Config) New(env collectors.Env) (collectors.Collector, error) {
	return c.NewCollector(env, lines.Kind{What: "memcached", Reasons: ownReasons(), Metrics: defs(), Talk: talk})
}

// maxStatistics is how many lines the answer to stats may have.
const maxStatistics = 1000

// unauthenticated is the answer of a server with --auth-file before a login.
const unauthenticated = "CLIENT_ERROR unauthenticated"

// talk queries the version, logs in if the server requires it, and measures.
// Source of the protocol: memcached/doc/protocol.txt
func talk(s *lines.Session) (down, incomplete error) {
	answer, err := s.Exchange("version", "version\r\n")
	// The login is a set: a server that requires none would store the password.
	if err == nil && answer == unauthenticated && s.Password != "" {
		answer, err = login(s)
	}
	if err != nil {
		return err, nil
	}
	version, ok := strings.CutPrefix(answer, "VERSION ")
	if !ok || version == "" {
		return failure(s, "version", answer), nil
	}
	s.Answered()
	s.Note = version
	return nil, measure(s)
}

// login logs in and returns the answer to version.
func login(s *lines.Session) (string, error) {
	login := s.Username + " " + s.Password.Value()
	answer, err := s.Exchange("the login", fmt.Sprintf("set vitals 0 0 %d\r\n%s\r\n", len(login), login))
	if err == nil && answer != "STORED" {
		err = failure(s, "the login", answer)
	}
	if err != nil {
		return "", err
	}
	return s.Exchange("version", "version\r\n")
}

// failure returns the error of an answer that is not as expected.
func failure(s *lines.Session, what, answer string) error {
	reason := remote.ReasonProtocol
	switch {
	case answer == unauthenticated && s.Password == "":
		reason = reasonLoginRequired
	case answer == unauthenticated, answer == "CLIENT_ERROR authentication failure":
		reason = remote.ReasonAuth
	case answer == "ERROR Too many open connections":
		reason = reasonTooManyConnections
	case strings.HasPrefix(answer, "SERVER_ERROR "):
		reason = remote.ReasonServerError
	}
	if reason != remote.ReasonProtocol {
		s.Answered()
	}
	return collectors.Errorf(reason, "answer to %s is %q", what, s.Redacted(answer))
}

// measure reads the statistics. An answer that is cut off measures nothing.
func measure(s *lines.Session) error {
	line, err := s.Exchange("stats", "stats\r\n")
	values := map[string]float64{}
	for range maxStatistics {
		if err != nil {
			return err
		}
		if line == "END" {
			export(s, values)
			return nil
		}
		field, value, ok := parse(line)
		if !ok {
			return failure(s, "stats", line)
		}
		values[field] = value
		line, err = s.Line("stats")
	}
	return collectors.Errorf(remote.ReasonProtocol, "answer to stats has more than %d lines", maxStatistics)
}

// parse reads a statistic. Its value is negative if it is no number that is measured.
func parse(line string) (field string, value float64, ok bool) {
	rest, ok := strings.CutPrefix(line, "STAT ")
	field, text, found := strings.Cut(rest, " ")
	if !ok || !found {
		return "", 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return field, -1, true
	}
	return field, float64(n), true
}

// export sets the gauges of the statistics that the server has.
func export(s *lines.Session, values map[string]float64) {
	for _, statistic := range statistics() {
		if value, ok := values[statistic.field]; ok && value >= 0 {
			s.Measured(statistic.def, value)
		}
	}
}
