package http

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/remote"
)

// vhost are the parts of the URL in the first virtual host of an Apache file.
type vhost struct {
	// host and port are those of <VirtualHost host:port>; empty if it is any.
	host, port string
	// serverName and serverPort are those of ServerName; empty if it is not set.
	serverName, serverPort string
	tls                    bool
	// alias is the path of the first WSGIScriptAlias; empty without any.
	alias string
}

// parseVHost finds the URL of a file's first virtual host: http, or https where
// SSLEngine is on, the ServerName, the port of <VirtualHost>, and the path of the first
// WSGIScriptAlias with a / at its end. Sections within the virtual host always apply: <IfModule> is
// not evaluated. The syntax is https://httpd.apache.org/docs/2.4/configuring.html#syntax.
func parseVHost(data []byte) (*url.URL, *file.Mistake) {
	p := vhostParser{}
	var joined strings.Builder // the lines that a backslash continues
	for line := range strings.SplitSeq(string(data), "\n") {
		p.number++
		if joined.Len() == 0 {
			p.line = p.number
		}
		line = strings.TrimSuffix(line, "\r")
		before, continued := strings.CutSuffix(line, `\`)
		joined.WriteString(before)
		if continued {
			continue
		}
		text := strings.TrimSpace(joined.String())
		joined.Reset()
		if done, problem := p.process(text); problem != "" {
			return nil, &file.Mistake{Line: p.line, Text: problem}
		} else if done {
			return p.host.url(), nil
		}
	}
	if p.began != 0 {
		return nil, &file.Mistake{Line: p.began, Text: "<VirtualHost> is not closed"}
	}
	return nil, &file.Mistake{Text: "there is no <VirtualHost>"}
}

// vhostParser parses a file line by line.
type vhostParser struct {
	// number is that of the last line, line that of the first line of the directive.
	number, line int
	// began is the line of <VirtualHost>; 0 before it.
	began int
	host  vhost
}

// process parses a directive, and returns whether the virtual host ends with it, or what is wrong
// with it. It ignores directives that the URL does not depend on.
func (p *vhostParser) process(text string) (done bool, problem string) {
	if text == "" || text[0] == '#' {
		return false, ""
	}
	name, arguments := text, ""
	if i := strings.IndexAny(text, " \t\v\f>"); i >= 0 {
		name, arguments = text[:i], text[i:]
	}
	name = strings.ToLower(name)
	if p.began == 0 {
		if name == "<virtualhost" {
			return false, p.begin(arguments)
		}
		return false, ""
	}
	switch name {
	case "</virtualhost":
		return true, ""
	case "<virtualhost":
		return false, "<VirtualHost> within another"
	case "servername", "sslengine", "wsgiscriptalias":
		return false, p.directive(name, arguments)
	}
	return false, ""
}

// begin parses the addresses of <VirtualHost>, of which the first counts.
func (p *vhostParser) begin(arguments string) (problem string) {
	arguments, closed := strings.CutSuffix(strings.TrimSpace(arguments), ">")
	words, ok := vhostWords(arguments)
	if !closed || !ok || len(words) == 0 {
		return "expected <VirtualHost address:port>"
	}
	p.began = p.line
	host, port := splitAddress(words[0])
	if host == "*" || strings.EqualFold(host, "_default_") {
		host = ""
	}
	if port == "*" {
		port = ""
	}
	if host != "" && !validHost(host) || port != "" && !remote.ValidPort(port) {
		return "expected <VirtualHost address:port>"
	}
	p.host.host, p.host.port = host, port
	return ""
}

// directive parses a directive that the URL depends on. As in Apache, the last one counts, except
// for aliases, of which the first counts.
func (p *vhostParser) directive(name, arguments string) (problem string) {
	words, ok := vhostWords(arguments)
	first := ""
	if ok && len(words) > 0 {
		first = words[0]
	}
	if strings.Contains(first, "${") {
		return "a variable, whose value is unknown: expected a literal value"
	}
	switch name {
	case "servername":
		_, after, ok := strings.Cut(first, "://")
		if !ok {
			after = first
		}
		host, port := splitAddress(after)
		if !validHost(host) || port != "" && !remote.ValidPort(port) {
			return "expected ServerName with a name or an address"
		}
		p.host.serverName, p.host.serverPort = host, port
	case "sslengine":
		switch strings.ToLower(first) {
		case "on":
			p.host.tls = true
		case "off", "optional":
			p.host.tls = false
		default:
			return "expected SSLEngine on or off"
		}
	case "wsgiscriptalias":
		if !strings.HasPrefix(first, "/") {
			return "expected WSGIScriptAlias with a path that begins with /"
		}
		if p.host.alias == "" {
			p.host.alias = first
		}
	}
	return ""
}

func (v *vhost) url() *url.URL {
	u := &url.URL{Scheme: "http", Path: strings.TrimSuffix(v.alias, "/") + "/"}
	port := "80"
	if v.tls {
		u.Scheme, port = "https", "443"
	}
	for _, configured := range []string{v.serverPort, v.port} {
		if configured != "" {
			port = configured
		}
	}
	host := v.serverName
	if host == "" {
		host = v.host
	}
	u.Host = net.JoinHostPort(reachable(host), port)
	return u
}

// splitAddress splits host, host:port, [address]:port or, for ServerName only, a bare IPv6 address.
// For any other text it returns an invalid host.
func splitAddress(text string) (host, port string) {
	if _, err := netip.ParseAddr(text); err == nil {
		return text, ""
	}
	inner, bracket := strings.CutPrefix(text, "[")
	if !bracket {
		host, port, _ = strings.Cut(text, ":")
		return host, port
	}
	host, port, _ = strings.Cut(inner, "]")
	address, err := netip.ParseAddr(host)
	if err != nil || !address.Is6() || port != "" && port[0] != ':' {
		return text, ""
	}
	return host, strings.TrimPrefix(port, ":")
}

// vhostWords splits the arguments of a directive. A quoted one, single or double, may contain
// white space, and the quote after a backslash.
func vhostWords(text string) ([]string, bool) {
	const space = " \t\v\f"
	var words []string
	for text = strings.TrimLeft(text, space); text != ""; text = strings.TrimLeft(text, space) {
		if text[0] != '"' && text[0] != '\'' {
			i := strings.IndexAny(text, space)
			if i < 0 {
				i = len(text)
			}
			words, text = append(words, text[:i]), text[i:]
			continue
		}
		quote, word, i := text[0], strings.Builder{}, 1
		for ; i < len(text) && text[i] != quote; i++ {
			if text[i] == '\\' && i+1 < len(text) && text[i+1] == quote {
				i++
			}
			word.WriteByte(text[i])
		}
		if i == len(text) {
			return nil, false
		}
		words, text = append(words, word.String()), text[i+1:]
	}
	return words, true
}
