package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/vitals-health/vitals/internal/tripleo"
)

// tripleoRules is how the rule files of the profile tripleo begin.
const tripleoRules = builtinPrefix + "tripleo-"

// tripleoSettings are what the profile tripleo is told.
type tripleoSettings struct {
	service, arguments string
	// root is what all paths inside the container lie below.
	root string
	// caFile and serverName say whom to trust, and insecure that anybody is.
	caFile, serverName string
	insecure           bool
	// disabled is pass or fail where nothing is to be checked.
	disabled string
	curl     curlEnvironment
}

// variables are those of --set.
func (s *tripleoSettings) variables() []variable {
	text := func(name string, to *string) variable {
		return variable{name, func(_ *Config, value string) error {
			*to = value
			return nil
		}}
	}
	path := func(name string, to *string) variable {
		return variable{name, func(_ *Config, value string) error {
			if !filepath.IsAbs(value) {
				return errors.New("expected an absolute path")
			}
			*to = value
			return nil
		}}
	}
	return []variable{
		text("arguments", &s.arguments),
		path("ca_file", &s.caFile),
		{"disabled", func(_ *Config, value string) error {
			if value != "pass" && value != "fail" {
				return errors.New("expected pass or fail")
			}
			s.disabled = value
			return nil
		}},
		path("root", &s.root),
		text("server_name", &s.serverName),
		text("service", &s.service),
		choiceVariable("tls", "verify", "skip", func() { s.insecure = true }),
	}
}

// adjustTripleo makes the collectors of the service that --set names, and chooses its
// rules.
func adjustTripleo(p *program, from *sources, c *Config) []error {
	s := tripleoSettings{}
	errs := p.setVariables(c, s.variables()...)
	errs = append(errs, s.curl.read()...)
	if s.curl.debug && p.log != nil && !p.levelGiven {
		_ = p.log.Level.Set("debug")
	}
	if s.service == "" {
		if _, given := p.set["service"]; !given {
			errs = append(errs, fmt.Errorf("no service: expected --set service=NAME, or %sSERVICE in the environment, such as nova-compute", setEnvironment))
		}
		return errs
	}
	service, err := tripleo.Find(s.service)
	if err != nil {
		return append(errs, fmt.Errorf("%s=%s: %w", p.setting("service"), s.service, err))
	}
	if service, err = service.WithArguments(s.arguments); err != nil {
		return append(errs, fmt.Errorf("%s=%s: %w", p.setting("arguments"), s.arguments, err))
	}
	if s.disabled != "" {
		c.RuleFiles = []string{tripleoRules + map[string]string{"pass": "disabled", "fail": "disabled-fail"}[s.disabled]}
		return errs
	}
	b := tripleoBuilder{settings: s, service: service, from: from}
	errs = append(errs, b.build()...)
	c.Collectors = append(c.Collectors, b.collectors...)
	for _, name := range service.Rules {
		c.RuleFiles = append(c.RuleFiles, tripleoRules+name)
	}
	return errs
}
