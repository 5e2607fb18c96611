package firstconfig

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"strings"
)

// Requests are what the operator names.
type Requests struct {
	HTTP, TCP, GRPC, DNS, NTP, Scrape, Process, File, Unit []string
	// Postgres and Redis are files with a URL of the server.
	Postgres, Redis []string
	// Watch are resources of the Kubernetes API.
	Watch []string
}

// Any reports whether there is a request.
func (r Requests) Any() bool {
	for _, list := range [][]string{r.HTTP, r.TCP, r.GRPC, r.DNS, r.NTP, r.Scrape, r.Process, r.File, r.Unit, r.Postgres, r.Redis, r.Watch} {
		if len(list) > 0 {
			return true
		}
	}
	return false
}

// requested adds the collectors that the operator names.
func (f *Found) requested(h Host, r Requests) error {
	simple := []struct {
		flag, kind, key string
		values          []string
	}{
		{"http", "http", "url", r.HTTP}, {"scrape", "scrape", "url", r.Scrape}, {"tcp", "tcp", "address", r.TCP}, {"grpc", "grpc", "address", r.GRPC},
		{"dns", "dns", "name", r.DNS}, {"ntp", "ntp", "server", r.NTP}, {"process", "process", "name", r.Process}, {"file", "file", "path", r.File},
	}
	for _, s := range simple {
		for _, value := range s.values {
			c := Collector{Name: named(s.kind, value), Kind: s.kind, Keys: flow(s.key, value), Source: "--" + s.flag + " names it", target: targetOf(s.kind, value)}
			if strings.Contains(value, "://") && strings.Contains(value, "@") { // perhaps a password
				u, err := url.Parse(value)
				if err != nil || s.key != "url" || cutPassword(u) {
					return fmt.Errorf("--%s: expected %s without a password, or with one whose special characters are escaped, such as %%40 for @ in a URL of --http or --scrape", s.flag, s.key)
				}
				plain := *u
				plain.User = nil
				c.Keys = flow(s.key, plain.String())
				c.authorize(u, loginOf(u, secret{}))
			}
			f.add(c)
		}
	}
	if len(r.Unit) > 0 {
		f.add(Collector{Name: "units", Kind: "systemd", Keys: "units: " + list(r.Unit), Source: "--unit names them", target: "systemd"})
	}
	if err := f.files(h, "postgres", r.Postgres); err != nil {
		return err
	}
	return f.files(h, "redis", r.Redis)
}

// maxURL limits a file with a URL, in bytes.
const maxURL = 64 << 10

// files adds the servers of which files have the URL.
func (f *Found) files(h Host, name string, files []string) error {
	for _, file := range files {
		text := strings.TrimSpace(string(h.read(strings.TrimPrefix(path.Clean(file), "/"), maxURL)))
		c, ok := ofURL(text, secret{})
		if !ok {
			return fmt.Errorf("--%s=%s: expected a file with a URL, such as %s://user@host/", name, file, name)
		}
		c.Name, c.Source = name, file+" has its URL"
		f.add(c)
	}
	return nil
}

// targetOf returns what a value names, so that a service is measured once.
func targetOf(kind, value string) string {
	if u, err := url.Parse(value); err == nil && u.Host != "" && (kind == "http" || kind == "scrape") {
		return u.Host
	}
	if kind == "tcp" || kind == "grpc" {
		return value
	}
	return kind + " " + value
}

// named returns a name for what a value names: the host of a URL or address, or the last part of
// a path.
func named(kind, value string) string {
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		value = u.Hostname()
	} else if host, _, err := net.SplitHostPort(value); err == nil {
		value = host
	}
	if net.ParseIP(value) != nil || value == "localhost" {
		return kind
	}
	return path.Base(value)
}
