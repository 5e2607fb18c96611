// Package httpconfig reads the credentials and the TLS of an HTTP client, in the format that
// Prometheus, promtool and amtool have for http_config.
package httpconfig

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/prometheus/common/config"

	"github.com/vitals-health/vitals/internal/files"
)

// maxFile bounds the file in bytes, and those with its secrets.
const maxFile = 1 << 20

// Load reads a file. Relative paths in it begin at its directory. It passes the secrets to
// hide, also those that further files have now. Errors name the file, for a mistake in YAML
// its line, and no value. An empty path, or an empty file, is the default.
func Load(path string, hide func(...string)) (config.HTTPClientConfig, error) {
	if path == "" {
		return config.DefaultHTTPClientConfig, nil
	}
	content, err := readFile(path)
	if err != nil {
		return config.HTTPClientConfig{}, Mistake(path, err)
	}
	if strings.TrimSpace(content) == "" {
		return config.DefaultHTTPClientConfig, nil
	}
	c, err := config.LoadHTTPConfig(content)
	if err != nil {
		return config.HTTPClientConfig{}, Mistake(path, err)
	}
	c.SetDirectory(filepath.Dir(path))
	inline, secretFiles := secrets(c)
	hide(inline...)
	for _, name := range secretFiles {
		if name == "" {
			continue
		}
		secret, err := readFile(name)
		if err != nil {
			return config.HTTPClientConfig{}, Mistake(path, err)
		}
		hide(strings.TrimSpace(secret))
	}
	return *c, nil
}

// secrets returns the secrets of a file, and the files that have others. Both may be empty.
func secrets(c *config.HTTPClientConfig) (inline, files []string) {
	inline, files = []string{string(c.BearerToken), string(c.TLSConfig.Key)}, []string{c.BearerTokenFile}
	if a := c.Authorization; a != nil {
		inline, files = append(inline, string(a.Credentials)), append(files, a.CredentialsFile)
	}
	if b := c.BasicAuth; b != nil {
		inline, files = append(inline, string(b.Password)), append(files, b.PasswordFile)
	}
	if o := c.OAuth2; o != nil {
		inline, files = append(inline, string(o.ClientSecret), string(o.ClientCertificateKey), string(o.TLSConfig.Key)), append(files, o.ClientSecretFile)
	}
	if c.HTTPHeaders == nil {
		return inline, files
	}
	for _, h := range c.HTTPHeaders.Headers {
		for _, s := range h.Secrets {
			inline = append(inline, string(s))
		}
		files = append(files, h.Files...)
	}
	return inline, files
}

// readFile reads a file that is not too long. It does not wait.
func readFile(path string) (string, error) {
	f, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("%s has more than 1 MiB", path)
	}
	return string(content), err
}

// Mistake returns an error of a file without the values in it, which the parsers of YAML and
// of URLs quote. The lines of an error of YAML become its position, one a line.
func Mistake(path string, err error) error {
	shown := regexp.MustCompile("`[^`]*`").ReplaceAllString(err.Error(), "`...`")
	shown = regexp.MustCompile(`parse "(?:[^"\\]|\\.)*"`).ReplaceAllString(shown, `parse "..."`)
	shown = regexp.MustCompile(`field (\S+) not found in type \S+`).ReplaceAllString(shown, `unknown key "$1"`)
	shown = regexp.MustCompile(`(?:field|key) (\S+) already set in (?:type \S+|map)`).ReplaceAllString(shown, `the key "$1" is there twice`)
	var errs []error
	for line := range strings.Lines(strings.TrimPrefix(shown, "yaml: ")) {
		line = strings.TrimSpace(line)
		number, text, ok := strings.Cut(strings.TrimPrefix(line, "line "), ": ")
		switch {
		case line == "unmarshal errors:" || line == "":
		case ok && strings.HasPrefix(line, "line "):
			errs = append(errs, fmt.Errorf("%s:%s: %s", path, number, text))
		default:
			errs = append(errs, fmt.Errorf("%s: %s", path, line))
		}
	}
	return errors.Join(errs...)
}
