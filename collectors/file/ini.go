package file

import "github.com/vitals-health/vitals/internal/oslo"

// parseINI returns whether an INI file has a key, section.option.
func parseINI(data []byte) (func(Key) bool, *Mistake) {
	file, wrong := ReadINI(data)
	if wrong != nil {
		return nil, wrong
	}
	return func(key Key) bool {
		if len(key) != 2 {
			return false
		}
		_, ok := file.Option(key[0].Name, key[1].Name)
		return ok
	}, nil
}

// ReadINI returns the options of an INI file, whose values may be secret, or the first
// mistake in it.
func ReadINI(data []byte) (oslo.File, *Mistake) {
	file, errs := oslo.Parse(string(data))
	if len(errs) > 0 {
		return file, &Mistake{Line: errs[0].Line, Text: "not valid INI: " + errs[0].Text}
	}
	return file, nil
}
