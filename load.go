package vitals

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/configfile"
	"github.com/vitals-health/vitals/internal/server/access"
	"github.com/vitals-health/vitals/rules"
)

// The places of mistakes that are in no file.
const (
	configPlace = "Options.Config"
	rulesPlace  = "Options.Rules"
)

// check returns the mistakes in the options that the configuration does not show.
func (o *Options) check() error {
	var errs []error
	if o.ConfigFile != "" && len(o.Config) > 0 {
		errs = append(errs, fmt.Errorf("both Options.ConfigFile (%s) and Options.Config are set: expected one of them", o.ConfigFile))
	}
	if o.MaxMemory < 0 {
		errs = append(errs, fmt.Errorf("Options.MaxMemory %d: expected a number of bytes, or 0 for the default", o.MaxMemory))
	}
	for _, host := range o.AllowedHosts {
		if err := access.CheckHost(host); err != nil {
			errs = append(errs, fmt.Errorf("Options.AllowedHosts %w", err))
		}
	}
	return errors.Join(append(errs, checkKinds(o.Kinds)...)...)
}

// load reads the configuration and the rules. The first result is never nil.
func (o *Options) load() (*configfile.Loaded[entry], []error) {
	from := configfile.NewSources()
	path, data := configPlace, o.Config
	if o.ConfigFile != "" {
		var err error
		path = o.ConfigFile
		if data, err = from.Regular(path); err != nil {
			return &configfile.Loaded[entry]{Sources: from}, []error{fmt.Errorf("%s: %w", path, err)}
		}
	} else if len(data) == 0 {
		data = []byte("{}")
	}
	known := kindsOf(o.Kinds)
	known.Templates = o.Templates
	l, errs := configfile.Load(known, from, path, data, o.adjust)
	if len(errs) == 0 {
		errs = l.TooManyTargets(o.memory())
	}
	if len(o.Rules) == 0 {
		return l, errs
	}
	files, mistakes := l.RuleOptions().ParseAll(rulesPlace, o.Rules)
	l.Rules = append(l.Rules, files...)
	errs = append(errs, mistakes...)
	if len(errs) == 0 { // those among the other files are reported already
		errs = rules.Check(l.Rules)
	}
	return l, errs
}

// adjust adds to a configuration what the options have.
func (o *Options) adjust(c *configfile.Config[entry]) []error {
	var errs []error
	if o.Interval != 0 {
		c.EvaluationInterval = model.Duration(o.Interval)
	}
	for _, pattern := range o.RuleFiles {
		absolute, err := filepath.Abs(pattern)
		if err != nil {
			errs = append(errs, fmt.Errorf("Options.RuleFiles %q: %w", pattern, err))
		}
		c.RuleFiles = append(c.RuleFiles, absolute)
	}
	for _, own := range o.Collectors {
		c.Collectors = append(c.Collectors, own.entry())
	}
	return errs
}

const (
	defaultInterval = 10 * time.Second
	defaultTimeout  = 5 * time.Second
)
