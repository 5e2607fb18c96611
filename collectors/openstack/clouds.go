package openstack

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
)

// loadCloud reads a cloud from clouds.yaml and secure.yaml with gophercloud: OS_REGION_NAME,
// OS_INTERFACE, OS_CACERT, OS_CERT and OS_KEY take precedence over the files, and the keys of the
// configuration over both.
func (s *source) loadCloud(a Auth) (*login, error) {
	file, err := findClouds(a.CloudsFile, s.getenv)
	s.stamp(file, securePath(file), a.CAFile, a.CertFile, a.KeyFile)
	if err != nil {
		return nil, err
	}
	options := []clouds.ParseOption{clouds.WithCloudName(a.Cloud), clouds.WithLocations(file)}
	if a.Region != "" {
		options = append(options, clouds.WithRegion(a.Region))
	}
	if a.Interface != "" {
		options = append(options, clouds.WithEndpointType(a.Interface))
	}
	if a.CAFile != "" {
		options = append(options, clouds.WithCACertPath(a.CAFile))
	}
	if a.CertFile != "" {
		options = append(options, clouds.WithClientCertPath(a.CertFile), clouds.WithClientKeyPath(a.KeyFile))
	}
	if a.Insecure {
		options = append(options, clouds.WithInsecure(true))
	}
	login, endpoint, config, err := parseClouds(options)
	if err != nil {
		return nil, fmt.Errorf("cloud %q of %s: %w", a.Cloud, file, err)
	}
	out, err := newLogin(login, endpoint.Region, endpoint.Availability, config, s.dial)
	if err != nil {
		return nil, fmt.Errorf("cloud %q of %s: %w", a.Cloud, file, err)
	}
	return out, nil
}

// parseClouds is clouds.Parse without two of its defects (v2.15.0): it panics on a cloud without a
// block auth, and the errors of its YAML parser quote the file, with the password.
func parseClouds(options []clouds.ParseOption) (login gophercloud.AuthOptions, endpoint gophercloud.EndpointOpts, config *tls.Config, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the entry has no block auth")
		}
	}()
	login, endpoint, config, err = clouds.Parse(options...)
	if err != nil && strings.Contains(err.Error(), "yaml: ") {
		err = errors.New("not valid as clouds.yaml or secure.yaml" + lineNumbers(err.Error()))
	}
	return login, endpoint, config, err
}

var yamlLine = regexp.MustCompile(`\bline (\d{1,9})\b`)

// lineNumbers returns the line numbers in a YAML error, as in ": line 3, line 7".
func lineNumbers(text string) string {
	lines := yamlLine.FindAllString(text, 3)
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines, ", ")
}

// securePath returns the path of the secure.yaml of a clouds.yaml.
func securePath(cloudsFile string) string {
	if cloudsFile == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(cloudsFile), "secure.yaml")
}

// findClouds returns the clouds.yaml to read: the given one, or the first that exists in the search
// path of OpenStack's clients. An unreadable one is an error; gophercloud would silently use the
// next.
func findClouds(given string, getenv func(string) string) (string, error) {
	places := []string{given}
	if given == "" {
		places = cloudsPlaces(getenv)
	}
	for _, place := range places {
		f, err := os.Open(place)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return place, fmt.Errorf("clouds.yaml: %w", err)
		}
		info, err := f.Stat()
		_ = f.Close()
		if err != nil || !info.Mode().IsRegular() {
			return place, fmt.Errorf("clouds.yaml: %s is not a file", place)
		}
		return place, nil
	}
	return places[0], fmt.Errorf("no clouds.yaml: expected it at %s", strings.Join(places, " or "))
}

// cloudsPlaces returns the search path. It omits an unknown home directory, as in an empty
// container.
func cloudsPlaces(getenv func(string) string) []string {
	if file := getenv("OS_CLIENT_CONFIG_FILE"); file != "" {
		return []string{file}
	}
	places := []string{"clouds.yaml"}
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		places = append(places, filepath.Join(dir, "openstack", "clouds.yaml"))
	} else if home := getenv("HOME"); home != "" {
		places = append(places, filepath.Join(home, ".config", "openstack", "clouds.yaml"))
	}
	return append(places, "/etc/openstack/clouds.yaml")
}
