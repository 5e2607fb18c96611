package http

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/oslo"
)

// fromINI returns the URL that the options of an INI file describe.
func (f *URLFrom) fromINI(data []byte) (*url.URL, *file.Mistake) {
	ini, wrong := file.ReadINI(data)
	if wrong != nil {
		return nil, wrong
	}
	host, line, wrong := iniOption(ini, f.Host, f.DefaultHost)
	if wrong != nil {
		return nil, wrong
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if host != "" && !validHost(host) {
		return nil, &file.Mistake{Line: line, Text: fmt.Sprintf("option %s: expected a host's name or address", f.Host)}
	}
	fallback := ""
	if f.DefaultPort != 0 {
		fallback = strconv.Itoa(f.DefaultPort)
	}
	port, line, wrong := iniOption(ini, f.Port, fallback)
	switch {
	case wrong != nil:
		return nil, wrong
	case port == "":
		return nil, &file.Mistake{Text: fmt.Sprintf("option %s is not set: expected a port, as there is no default_port", f.Port)}
	case !remote.ValidPort(port):
		return nil, &file.Mistake{Line: line, Text: fmt.Sprintf("option %s: expected a port, 1 to 65535", f.Port)}
	}
	https, line, wrong := iniOption(ini, f.HTTPS, "false")
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
		return nil, &file.Mistake{Line: line, Text: fmt.Sprintf("option %s: expected true or false", f.HTTPS)}
	}
	return u, nil
}

// iniOption returns the value of an option, with references replaced, and its line. It
// returns the fallback if the option is not configured, not set or empty.
func iniOption(ini oslo.File, option, fallback string) (value string, line int, wrong *file.Mistake) {
	key, err := file.ParseKey(option)
	if err != nil || len(key) != 2 {
		return fallback, 0, nil
	}
	found, ok := ini.Option(key[0].Name, key[1].Name)
	if !ok {
		return fallback, 0, nil
	}
	value, err = ini.Resolve(key[0].Name, found)
	switch {
	case err != nil:
		return "", 0, &file.Mistake{Line: found.Line, Text: fmt.Sprintf("option %s %v", option, err)}
	case value == "":
		return fallback, 0, nil
	}
	return value, found.Line, nil
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252})$`)

// validHost reports whether text is an address or a valid host name. The zone of an address
// must be one that a URL can have: netip accepts any text.
func validHost(text string) bool {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Zone() == "" || hostName.MatchString(address.Zone())
	}
	return hostName.MatchString(text) && !strings.Contains(text, "..")
}

// reachable returns the host to connect to for a server that listens on host: loopback
// for one that listens on all addresses.
func reachable(host string) string {
	if host == "" {
		return "127.0.0.1"
	}
	address, err := netip.ParseAddr(host)
	switch {
	case err != nil || !address.WithZone("").IsUnspecified():
		return host
	case address.Is4():
		return "127.0.0.1"
	}
	return "::1"
}
