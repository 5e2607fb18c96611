package collectors

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// fromINI makes the URL out of the options of an INI file.
func (f *HTTPURLFrom) fromINI(data []byte) (*url.URL, *fileMistake) {
	options, wrong := readINI(data)
	if wrong != nil {
		return nil, wrong
	}
	host, line, wrong := options.text(f.Host, f.DefaultHost)
	if wrong != nil {
		return nil, wrong
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if host != "" && !validHost(host) {
		return nil, &fileMistake{line: line, text: fmt.Sprintf("option %s: expected a host's name or address", f.Host)}
	}
	fallback := ""
	if f.DefaultPort != 0 {
		fallback = strconv.Itoa(f.DefaultPort)
	}
	port, line, wrong := options.text(f.Port, fallback)
	switch {
	case wrong != nil:
		return nil, wrong
	case port == "":
		return nil, &fileMistake{text: fmt.Sprintf("option %s is not set: expected a port, as there is no default_port", f.Port)}
	case !validPort(port):
		return nil, &fileMistake{line: line, text: fmt.Sprintf("option %s: expected a port, 1 to 65535", f.Port)}
	}
	https, line, wrong := options.text(f.HTTPS, "false")
	if wrong != nil {
		return nil, wrong
	}
	u := &url.URL{Scheme: "http", Host: net.JoinHostPort(reachable(host), port), Path: f.Path}
	if f.Path == "" {
		u.Path = "/"
	}
	switch strings.ToLower(https) { // oslo.config's booleans
	case "true", "1", "on", "yes":
		u.Scheme = "https"
	case "false", "0", "off", "no":
	default:
		return nil, &fileMistake{line: line, text: fmt.Sprintf("option %s: expected true or false", f.HTTPS)}
	}
	return u, nil
}

// text returns an option's value and its line, and the fallback where it is not set or
// empty. A value may refer to other options, as oslo.config's do: $name and ${name} of
// the section DEFAULT, ${section.name}; $$ is $.
func (o iniOptions) text(option, fallback string) (value string, line int, wrong *fileMistake) {
	key, err := parseFileKey(option)
	if err != nil {
		return fallback, 0, nil // no option is configured
	}
	found, ok := o.find(key)
	if !ok {
		return fallback, 0, nil
	}
	missing := ""
	value = os.Expand(found.value(), func(name string) string {
		if name == "$" {
			return "$"
		}
		section, name, ok := strings.Cut(name, ".")
		if !ok {
			section, name = "DEFAULT", section
		}
		other, ok := o.find(fileKey{{name: section}, {name: name}})
		if !ok || strings.Contains(other.value(), "$") {
			missing = section + "." + name
			return ""
		}
		return other.value()
	})
	if missing != "" {
		return "", 0, &fileMistake{line: found.line, text: fmt.Sprintf("option %s refers to %s, which is not known here", option, oneLine(missing, 80))}
	}
	if value == "" {
		return fallback, 0, nil
	}
	return value, found.line, nil
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252})$`)

// validHost says whether text is an address or can be a host's name.
func validHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return hostName.MatchString(text) && !strings.Contains(text, "..")
}

// reachable is where to reach a server that listens on host: one that listens on all
// addresses is reached on loopback.
func reachable(host string) string {
	if host == "" {
		return "127.0.0.1"
	}
	address, err := netip.ParseAddr(host)
	switch {
	case err != nil || !address.IsUnspecified():
		return host
	case address.Is4():
		return "127.0.0.1"
	}
	return "::1"
}
