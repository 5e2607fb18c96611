package tripleo

import (
	"fmt"
	"strings"

	"github.com/vitals-health/vitals/collectors"
)

// redis reads redis.conf (https://redis.io/docs/latest/operate/oss_and_stack/management/config/):
// the port without TLS is preferred to the one with TLS, and both to a Unix socket.
func redis(text string) (Endpoint, error) {
	directives := map[string][]string{"port": {"6379"}, "bind": {"127.0.0.1"}}
	for line := range strings.Lines(text) {
		words, err := redisWords(strings.TrimSpace(line))
		if err != nil {
			return Endpoint{}, err
		}
		if len(words) > 1 {
			directives[strings.ToLower(words[0])] = words[1:]
		}
	}
	get := func(name string) string { return append(directives[name], "")[0] }

	e := Endpoint{Password: collectors.Secret(get("requirepass"))}
	port := get("port")
	if port == "0" && get("tls-port") != "" && get("tls-port") != "0" {
		port, e.TLS = get("tls-port"), &TLS{CAFile: get("tls-ca-cert-file")}
		if get("tls-auth-clients") != "no" {
			e.TLS.CertFile, e.TLS.KeyFile = get("tls-cert-file"), get("tls-key-file")
		}
	}
	if port == "0" {
		if get("unixsocket") == "" {
			return e, fmt.Errorf("port 0 without tls-port and unixsocket: expected one of them")
		}
		e.Address = "unix:" + get("unixsocket")
		return e, nil
	}
	var err error
	// A leading - marks an address that may be unavailable.
	e.Address, err = reach(strings.TrimPrefix(get("bind"), "-"), port)
	return e, err
}

// redisWords splits a line as Redis does: into words separated by white space, or in quotes
// with backslash escapes. A comment has no words.
func redisWords(line string) ([]string, error) {
	var words []string
	for line = strings.TrimLeft(line, " \t"); line != "" && line[0] != '#'; line = strings.TrimLeft(line, " \t") {
		word, rest, ok := redisWord(line)
		if !ok {
			// The line may contain a password.
			return nil, fmt.Errorf("the directive %.32q has a quote without its end", append(words, "")[0])
		}
		words, line = append(words, word), rest
	}
	return words, nil
}

// redisWord returns the first word of a line that is not empty, and the rest.
func redisWord(line string) (word, rest string, ok bool) {
	quote := line[0]
	if quote != '"' && quote != '\'' {
		if i := strings.IndexAny(line, " \t"); i >= 0 {
			return line[:i], line[i:], true
		}
		return line, "", true
	}
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == quote:
			return b.String(), line[i+1:], true
		case c == '\\' && i+1 < len(line) && (quote == '"' || line[i+1] == '\''):
			n := redisEscape(&b, line[i+1:])
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// redisEscape writes the character of an escape and returns the escape's length without the
// backslash; text is not empty.
func redisEscape(b *strings.Builder, text string) int {
	var code byte
	if text[0] == 'x' && len(text) > 2 {
		if n, err := fmt.Sscanf(text[1:3], "%02x", &code); n == 1 && err == nil {
			b.WriteByte(code)
			return 3
		}
	}
	if i := strings.IndexByte("nrtba", text[0]); i >= 0 {
		b.WriteByte("\n\r\t\b\a"[i])
		return 1
	}
	b.WriteByte(text[0])
	return 1
}
