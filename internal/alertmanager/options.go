package alertmanager

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/internal/redact"
)

// apiPath is the path of the API to which alerts are sent.
// Source: prometheus/alertmanager, api/v2/openapi.yaml.
const apiPath = "/api/v2/alerts"

// target is one Alertmanager.
type target struct {
	// url is that of the API, and shown that of the flag without credentials.
	url, shown string
}

// withoutURL returns an error for options that have no effect without a URL.
func (o Options) withoutURL() error {
	for _, with := range []struct {
		flag  string
		given bool
	}{
		{"http.config.file", o.HTTPConfigFile != ""}, {"external-label", len(o.ExternalLabels) > 0}, {"target-label", len(o.TargetLabels) > 0},
	} {
		if with.given {
			return fmt.Errorf("--alertmanager.%s: expected an Alertmanager with it: --alertmanager.url=http://alertmanager:9093", with.flag)
		}
	}
	_, err := parseExternalURL(o.ExternalURL)
	return err
}

// parse checks the options. It hides the credentials of the URLs.
func (o Options) parse(hide func(...string)) (targets []target, link string, err error) {
	for _, text := range o.URLs {
		to, err := parseURL(text, hide)
		if err != nil {
			return nil, "", err
		}
		if slices.ContainsFunc(targets, func(other target) bool { return other.shown == to.shown }) {
			return nil, "", fmt.Errorf("--alertmanager.url=%s is given twice: expected each Alertmanager once", to.shown)
		}
		targets = append(targets, to)
	}
	if err := cmp.Or(checkLabels("external-label", o.ExternalLabels), checkLabels("target-label", o.TargetLabels)); err != nil {
		return nil, "", err
	}
	link, err = parseExternalURL(o.ExternalURL)
	return targets, link, err
}

// checkLabels checks labels that are added to alerts.
func checkLabels(flag string, given map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case !model.UTF8Validation.IsValidLabelName(name) || strings.HasPrefix(name, model.ReservedLabelPrefix):
			return fmt.Errorf("--alertmanager.%s=%.80q: expected the name and the value of a label, such as cluster=prod", flag, name+"="+given[name])
		case name == model.AlertNameLabel:
			return fmt.Errorf("--alertmanager.%s=%s: each alert has this label: expected another name", flag, name)
		case given[name] == "" || !model.LabelValue(given[name]).IsValid():
			return fmt.Errorf("--alertmanager.%s=%s: expected a value in UTF-8, such as %[2]s=prod", flag, name)
		}
	}
	return nil
}

// parseURL returns the Alertmanager of a flag's value. No error has the credentials in it.
func parseURL(text string, hide func(...string)) (target, error) {
	const expected = "expected the address of an Alertmanager, such as http://alertmanager:9093"
	u, err := url.Parse(text)
	if err != nil {
		return target{}, errors.New("--alertmanager.url: this is no URL: " + expected)
	}
	hide(redact.Secrets(text)...)
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" { // its parts are not certain: any may be a password
		return target{}, errors.New("--alertmanager.url: this has no http:// or no host: " + expected)
	}
	shown := shownURL(u)
	switch {
	case u.Fragment != "":
		return target{}, fmt.Errorf("--alertmanager.url=%.200s: a server receives no fragment (#...): %s", shown, expected)
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), apiPath), strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/api/v1/alerts"):
		return target{}, fmt.Errorf("--alertmanager.url=%.200s: %s, without the path of its API", shown, expected)
	}
	to := u.JoinPath(apiPath)
	return target{to.String(), shown}, nil
}

// shownURL returns a URL without its credentials, which may be in the query as well.
func shownURL(u *url.URL) string {
	shown := *u
	shown.User, shown.RawQuery, shown.ForceQuery, shown.Fragment, shown.RawFragment = nil, "", false, "", ""
	return strings.TrimRight(shown.String(), "/")
}

// parseExternalURL returns the prefix of the links to Vitals; empty for none.
func parseExternalURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", errors.New("--web.external-url: expected the address of the status page, such as https://vitals.example.org/prefix")
	}
	return strings.TrimRight(u.String(), "/") + "/", nil
}
