package collectors

import "github.com/vitals-health/vitals/internal/oslo"

// parseINI returns whether an INI file has a key, section.option.
func parseINI(data []byte) (func(fileKey) bool, *fileMistake) {
	file, wrong := readINI(data)
	if wrong != nil {
		return nil, wrong
	}
	return func(key fileKey) bool {
		if len(key) != 2 {
			return false
		}
		_, ok := file.Option(key[0].name, key[1].name)
		return ok
	}, nil
}

// readINI returns the options of an INI file, whose values may be secret, or the first
// mistake in it.
func readINI(data []byte) (oslo.File, *fileMistake) {
	file, errs := oslo.Parse(string(data))
	if len(errs) > 0 {
		return file, &fileMistake{line: errs[0].Line, text: "not valid INI: " + errs[0].Text}
	}
	return file, nil
}
