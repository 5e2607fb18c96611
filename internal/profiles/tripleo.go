package profiles

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/profiles/tripleo"
)

// tripleoRules is how the rule files of the profile tripleo begin.
const tripleoRules = config.BuiltinPrefix + "tripleo-"

// tripleoSettings are the values of the variables of the profile tripleo.
type tripleoSettings struct {
	service, arguments string
	// root is the directory above all paths of the container.
	root string
	// caFile and serverName verify certificates of servers; insecure disables the check.
	caFile, serverName string
	insecure           bool
	// disabled is pass or fail to check nothing and return that.
	disabled string
	curl     curlEnvironment
}

// variables returns the variables of the profile.
func (s *tripleoSettings) variables() []variable {
	text := func(name string, to *string) variable {
		return variable{name, func(_ *config.Config, value string) error {
			*to = value
			return nil
		}}
	}
	path := func(name string, to *string) variable {
		return variable{name, func(_ *config.Config, value string) error {
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
		{"disabled", func(_ *config.Config, value string) error {
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

// adjustTripleo makes the collectors of the service that the variables select, and adds
// its rules.
func adjustTripleo(o *Options, from *config.Sources, c *config.Config) []error {
	s := tripleoSettings{}
	errs := o.setVariables(c, s.variables()...)
	errs = append(errs, s.curl.read()...)
	if s.curl.debug && o.Debug != nil {
		o.Debug()
	}
	if s.service == "" {
		if _, given := o.Set["service"]; !given {
			errs = append(errs, fmt.Errorf("no service: expected --set service=NAME, or %sSERVICE in the environment, such as nova-compute", SetPrefix))
		}
		return errs
	}
	service, err := tripleo.Find(s.service)
	if err != nil {
		return append(errs, fmt.Errorf("%s=%s: %w", o.setting("service"), s.service, err))
	}
	if service, err = service.WithArguments(s.arguments); err != nil {
		return append(errs, fmt.Errorf("%s=%s: %w", o.setting("arguments"), s.arguments, err))
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
