package vitals

import (
	"errors"
	"reflect"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/redact"
	"github.com/vitals-health/vitals/internal/schema"
)

// Validate returns every mistake in the options and in the files that they name, each with its place.
// Unlike New it makes no collector. So it needs no credentials and no host on which the program could
// run, only the variables and files that the configuration refers to.
func Validate(o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	l, errs := o.load()
	secrets := &redact.List{}
	secrets.Add(l.Secrets...)
	return clean(secrets, errors.Join(errs...))
}

// Schema returns the JSON Schema of a configuration file whose kinds are those of Options.Kinds, with
// which editors complete and check it.
func Schema(kinds map[string]collectors.Kind) ([]byte, error) {
	if errs := checkKinds(kinds); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	types := map[string]reflect.Type{}
	for key, kind := range kinds {
		types[key] = reflect.TypeOf(kind).Elem()
	}
	return schema.ForKinds(types), nil
}

// clean returns an error without secrets; nil for nil.
func clean(secrets *redact.List, err error) error {
	if err == nil {
		return nil
	}
	if shown := secrets.Text(err.Error()); shown != err.Error() {
		return errors.New(shown)
	}
	return err
}
