package rulecheck

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/internal/strictyaml"
)

// AllFiles returns the files that arguments name, each once. matching returns the files of
// an argument. The errors have the argument as their file.
func AllFiles(args []string, matching func(arg string) ([]string, error)) (names []string, mistakes []error) {
	for _, arg := range args {
		found, err := matching(arg)
		if err != nil {
			mistakes = append(mistakes, &strictyaml.Error{File: arg, Text: err.Error()})
		}
		for _, name := range found {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, mistakes
}

// FileOf returns the file of an error, or an empty string.
func FileOf(mistake error) string {
	if e := (*strictyaml.Error)(nil); errors.As(mistake, &e) {
		return e.File
	}
	return ""
}

// Paths returns the files that an argument names: a path, or a glob where no file has that
// path.
func Paths(arg string) ([]string, error) {
	if arg == "" {
		return nil, errors.New("a file without a name, expected a path; standard input is /dev/stdin")
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return nil, fmt.Errorf("is a directory, expected files: give those in it, such as '%s'", filepath.Join(arg, "*.yml"))
	}
	if _, err := os.Lstat(arg); err == nil || !strings.ContainsAny(arg, "*?[") {
		return []string{filepath.Clean(arg)}, nil
	}
	found, err := filepath.Glob(arg)
	if err == nil && len(found) == 0 {
		err = errors.New("matches no file")
	}
	return found, err
}
