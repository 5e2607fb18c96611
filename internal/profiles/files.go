package profiles

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

// Files returns a profile as plain files by their paths: vitals.yml and rules/NAME.yml.
// The configuration is the shipped one, or the one that the variables result in. given
// reports whether flags set variables. note is a line for the user, or empty.
func (pr Profile) Files(o Options, given bool) (files map[string]string, note string, err error) {
	switch {
	case !pr.made && given:
		return nil, "", fmt.Errorf("profile %s: --set does not change its plain files, expected no such flag: write the files, and edit them", pr.Name)
	case !pr.made:
		return plainFiles(string(pr.config())), "", nil
	case o.Set["service"] == "" && !given:
		return plainFiles(string(pr.config())), "no service: collectors and rule files are comments only; --set service=NAME adds those of a service", nil
	}
	l, errs := Load(o)
	if len(errs) > 0 {
		return nil, "", errors.Join(errs...)
	}
	config, err := pr.madeConfig(&l.Config)
	if err != nil {
		return nil, "", err
	}
	return plainFiles(config), "", nil
}

// madeConfig returns the shipped file with the collectors and rule files of c in the place
// of the comments at its end. It leaves out passwords and adds a comment for each.
func (pr Profile) madeConfig(c *config.Config) (string, error) {
	head, _, _ := strings.Cut(string(pr.config()), "# One of these, or several")
	for i := range c.Collectors {
		if k := c.Collectors[i].TCP; k != nil && k.Password != "" {
			k.Password = ""
			head += fmt.Sprintf("# The password of the collector %[1]s is left out: put it into a file that only Vitals may\n# read, and add the path of that file below %[1]s as password_file, next to the address.\n", c.Collectors[i].Name)
		}
	}
	made, err := strictyaml.Encode(config.Config{RuleFiles: c.RuleFiles, Collectors: c.Collectors})
	if err != nil {
		return "", fmt.Errorf("print profile %s: %w", pr.Name, err)
	}
	// The text contains no references to the environment or to files.
	return head + strings.ReplaceAll(string(made), "${", "$${"), nil
}

// plainFiles returns a configuration and the shipped rule files that it names, also in
// comments, as vitals.yml and rules/NAME.yml.
func plainFiles(text string) map[string]string {
	files := map[string]string{}
	entries, _ := fs.ReadDir(rules.Shipped(), ".")
	for _, e := range entries {
		reference := config.BuiltinPrefix + strings.TrimSuffix(e.Name(), ".yml")
		if !strings.Contains(text, reference+"\n") {
			continue
		}
		data, _ := fs.ReadFile(rules.Shipped(), e.Name())
		text = strings.ReplaceAll(text, reference+"\n", "rules/"+e.Name()+"\n")
		files["rules/"+e.Name()] = string(data)
	}
	files["vitals.yml"] = text
	return files
}
