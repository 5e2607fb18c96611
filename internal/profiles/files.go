package profiles

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/strictyaml"
	"github.com/vitals-health/vitals/rules"
)

// Secrets is the folder, below that of the plain files, with one file for each secret of the
// configuration. Only their owner may read them.
const Secrets = "secrets/"

// Files returns a profile as plain files by their paths: vitals.yml, rules/NAME.yml and
// secrets/NAME. dir is the directory that they are for: the configuration refers to its
// secrets there. The configuration is the shipped one, or the one that the variables and
// kuryr.conf result in. given reports whether flags set them. note is a line for the user,
// or empty.
func (pr Profile) Files(o Options, given bool, dir string) (files map[string]string, note string, err error) {
	switch {
	case !pr.made && !given:
		return plainFiles(string(pr.config())), "", nil
	case pr.made && o.Set["service"] == "" && !given:
		return plainFiles(string(pr.config())), "no service: collectors and rule files are comments only; --set service=NAME adds those of a service", nil
	}
	l, errs := Load(o)
	if len(errs) > 0 {
		return nil, "", errors.Join(errs...)
	}
	if !pr.made {
		files, err = pr.wholeConfig(&l.Config, dir)
		return files, "", err
	}
	config, err := pr.madeConfig(&l.Config)
	if err != nil {
		return nil, "", err
	}
	return plainFiles(config), "", nil
}

// wholeConfig returns the files of a configuration, below the comment of the shipped one.
func (pr Profile) wholeConfig(c *config.Config, dir string) (map[string]string, error) {
	head, _, _ := strings.Cut(string(pr.config()), "evaluation_interval:")
	made, err := strictyaml.Encode(c)
	if err != nil {
		return nil, fmt.Errorf("print profile %s: %w", pr.Name, err)
	}
	text := strings.ReplaceAll(string(made), "${", "$${")
	secrets := map[string]string{}
	refer := func(collector, key string, secret collectors.Secret) {
		if secret == "" {
			return
		}
		path := Secrets + collector + "-" + key
		secrets[path] = secret.Value()
		reference := strconv.Quote("${file:" + filepath.Join(dir, path) + "}")
		text = strings.Replace(text, key+": "+secret.String()+"\n", key+": "+reference+"\n", 1)
	}
	for _, col := range c.Collectors {
		if k := col.Keystone; k != nil {
			refer(col.Name, "password", k.Password)
			refer(col.Name, "application_credential_secret", k.ApplicationCredentialSecret)
		}
	}
	files := plainFiles(head + "#\n# These flags are applied: change the values here. Secrets are in files of their own.\n" + text)
	maps.Copy(files, secrets)
	return files, nil
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
