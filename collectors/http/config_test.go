package http_test

import (
	"testing"

	"github.com/vitals-health/vitals/collectors/collectortest"
	httpkind "github.com/vitals-health/vitals/collectors/http"
)

func TestProblems(t *testing.T) {
	const u = "url: http://127.0.0.1/, "
	const variables = "body, http_code, http_version, method, num_redirects, remote_address, remote_ip, remote_port, response_code, scheme, size_download, " +
		"time_appconnect, time_connect, time_namelookup, time_pretransfer, time_starttransfer, time_total, url_effective"
	tests := []struct{ name, config, want string }{
		{"URL alone", "{url: http://127.0.0.1/}", ""},
		{"everything", `{url: "https://[::1]:5000/v3?limit=1", ip_family: 6, method: POST, headers: {Accept: a, Host: h}, header_files: {X-Auth-Token: /t}, body: '{}',
			basic_auth: {username: u, password_file: /p}, tls: {ca_file: /ca}, follow_redirects: true, use_proxy: true, status: [200, 300-302], body_size_limit: 1kB,
			expect: {headers: {A: "^b$"}, headers_not: {C: d}, body: e, body_not: f, json: {a.0: 1, b: true, c: x, d: null, e: 1.5}}, note_format: "%{http_code}\n%%"}`, ""},
		{"nothing", "{}", ": expected exactly one of url and url_from"},
		{"both URLs", "{" + u + "url_from: {vhost: /v}}", ": expected exactly one of url and url_from"},
		{"no scheme", "{url: 127.0.0.1:80}", "url: expected a URL such as http://127.0.0.1:5000/v3/"},
		{"other scheme", "{url: ftp://host/}", "url: expected a URL such as http://127.0.0.1:5000/v3/"},
		{"port without a host", "{url: 'http://:80/'}", "url: expected a URL such as http://127.0.0.1:5000/v3/"},
		{"password that is not repeated", "{url: 'http://user:pa ss@host:x/'}", "url: expected a URL such as http://127.0.0.1:5000/v3/"},
		{"credentials", "{url: 'http://user:password@host/'}", "url: credentials in the URL: expected them in basic_auth"},
		{"port beyond", "{url: 'http://host:65536/'}", "url: port 65536 in the URL: expected 1 to 65535"},
		{"address of the other family", "{url: 'http://127.0.0.1/', ip_family: 6}", "url: address 127.0.0.1 in the URL: expected one of ip_family 6"},
		{"IPv6 address of the other family", "{url: 'http://[::1]/', ip_family: 4}", "url: address ::1 in the URL: expected one of ip_family 4"},
		{"no such family", "{" + u + "ip_family: 5}", `ip_family: ip_family "5": expected any, 4 or 6`},
		{"relative socket", "{" + u + "unix_socket: s.sock}", `unix_socket: path "s.sock": expected an absolute path`},
		{"proxy before a socket", "{" + u + "unix_socket: /s.sock, use_proxy: true}", "use_proxy: use_proxy beside unix_socket: expected one of them"},
		{"method in lower case", "{" + u + "method: get}", `method: method "get": expected a method such as GET, HEAD or POST`},
		{"CONNECT", "{" + u + "method: CONNECT}", `method: method "CONNECT": expected a method such as GET, HEAD or POST`},
		{"two bodies", "{" + u + "body: b, body_file: /b}", "body_file: body_file beside body: expected one of them"},
		{"relative body", "{" + u + "body_file: b}", `body_file: expected the absolute path of a file`},
		{"header with a space", "{" + u + "headers: {'A b': c}}", `headers["A b"]: header "A b": expected the name of a header`},
		{"header with a second line", "{" + u + `headers: {A: "b\nC: d"}}`, `headers["A"]: header "A": expected a value without control characters`},
		{"user agent with a second line", "{" + u + `user_agent: "a\r\nC: d"}`, "user_agent: expected a value without control characters"},
		{"secret in the configuration", "{" + u + "headers: {authorization: Bearer x}}", `headers["authorization"]: header Authorization contains a secret: expected it in header_files`},
		{"header that is a key", "{" + u + "headers: {user-agent: x}}", `headers["user-agent"]: header User-Agent: expected none that Vitals sets itself (see the key user_agent)`},
		{"header twice", "{" + u + "headers: {A: b}, header_files: {a: /b}}", `header_files["a"]: header A is in headers already: expected it once`},
		{"relative file of a header", "{" + u + "header_files: {a: b}}", `header_files["a"]: expected the absolute path of a file`},
		{"authorized twice", "{" + u + "header_files: {Authorization: /b}, bearer_token_file: /t}",
			`header_files["Authorization"]: header Authorization is in basic_auth or bearer_token_file already: expected it once`},
		{"both credentials", "{" + u + "basic_auth: {username: u, password_file: /p}, bearer_token_file: /t}",
			"bearer_token_file: bearer_token_file beside basic_auth: expected one of them"},
		{"half a client certificate", "{" + u + "tls: {cert_file: /c}}", "tls: cert_file and key_file: expected both or none"},
		{"no status", "{" + u + "status: []}", "status: no status: expected at least one, such as 200-299"},
		{"class of statuses", "{" + u + "status: [2xx]}", `status[0]: status "2xx": expected a status such as 204, or a range such as 200-299`},
		{"statuses with a comma", "{" + u + "status: ['200,204']}", `status[0]: status "200,204": expected a status such as 204, or a range such as 200-299`},
		{"range backwards", "{" + u + "status: [200, 299-200]}", `status[1]: status "299-200": expected a status such as 204, or a range such as 200-299`},
		{"status beyond", "{" + u + "status: [600]}", `status[0]: status "600": expected a status such as 204, or a range such as 200-299`},
		{"no expression", "{" + u + "expect: {headers: {A: '('}}}", "expect.headers[\"A\"]: \"(\": expected a regular expression: error parsing regexp: missing closing ): `(`"},
		{"no expression for the whole body", "{" + u + "expect: {body: '+'}}", "expect.body: \"+\": expected a regular expression: error parsing regexp: missing argument to repetition operator: `+`"},
		{"no expression for the body", "{" + u + "expect: {body_not: '['}}", "expect.body_not: \"[\": expected a regular expression: error parsing regexp: missing closing ]: `[`"},
		{"no path", "{" + u + "expect: {json: {a..b: 1}}}", `expect.json["a..b"]: key "a..b": expected names with dots between them, and quotes around a whole name only`},
		{"no scalar", "{" + u + "expect: {json: {a: [1]}}}", `expect.json["a"]: value [1]: expected a string, a number, true, false or null`},
		{"not a number", "{" + u + "expect: {json: {a: .nan}}}", `expect.json["a"]: value NaN: expected a string, a number, true, false or null`},
		{"body of HEAD", "{" + u + "method: HEAD, expect: {body: a}}", "expect: method HEAD, whose answer has no body: expected no body, body_not or json"},
		{"text that must not be in the body of HEAD", "{" + u + "method: HEAD, expect: {body_not: a}}", "expect: method HEAD, whose answer has no body: expected no body, body_not or json"},
		{"JSON of HEAD", "{" + u + "method: HEAD, expect: {json: {a: 1}}}", "expect: method HEAD, whose answer has no body: expected no body, body_not or json"},
		{"header of HEAD", "{" + u + "method: HEAD, expect: {headers: {A: b}}}", ""},
		{"no size", "{" + u + "body_size_limit: 0}", "body_size_limit: body_size_limit 0B: expected more than 0B"},
		{"relative output", "{" + u + "body_output: body}", `body_output: path "body": expected an absolute path`},
		{"unknown variable", "{" + u + "note_format: '%{http_code} %{json}'}", `note_format: variable "json": expected one of ` + variables},
		{"variable that stays open", "{" + u + "note_format: '%{http_code'}", `note_format: "%{http_code": expected a } after %{`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, tt.config, &httpkind.Config{}); got != tt.want {
				t.Errorf("Problems() = %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestURLFromProblems(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"virtual host", "{vhost: /v}", ""},
		{"options", "{ini: /i, host: DEFAULT.h, port: DEFAULT.p, https: a.b, path: /x, default_host: '::1', default_port: 1}", ""},
		{"port alone", "{ini: /i, port: DEFAULT.p}", ""},
		{"nothing", "{}", "url_from: expected exactly one of vhost and ini"},
		{"both", "{vhost: /v, ini: /i}", "url_from: expected exactly one of vhost and ini"},
		{"relative virtual host", "{vhost: v}", `url_from.vhost: path "v": expected an absolute path`},
		{"option of a virtual host", "{vhost: /v, path: /x}", "url_from: options together with vhost: expected them together with ini only"},
		{"relative file", "{ini: i, default_port: 1}", `url_from.ini: path "i": expected an absolute path`},
		{"no port", "{ini: /i}", "url_from: no port: expected port, default_port or both"},
		{"option without a section", "{ini: /i, host: bind_host, default_port: 1}", `url_from.host: option "bind_host": expected section.option`},
		{"port beyond", "{ini: /i, default_port: 70000}", "url_from.default_port: port 70000: expected 1 to 65535"},
		{"host with a port", "{ini: /i, default_host: 'a:1', default_port: 1}", `url_from.default_host: host "a:1": expected a name or an address`},
		{"relative path", "{ini: /i, default_port: 1, path: x}", `url_from.path: path "x": expected one that begins with /`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := collectortest.Problems(t, "{url_from: "+tt.config+"}", &httpkind.Config{}); got != tt.want {
				t.Errorf("Problems() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestExternal(t *testing.T) {
	for config, want := range map[string]bool{
		"{url: 'http://keystone.example:5000/'}":                       true,
		"{url: 'http://10.0.0.1/'}":                                    true,
		"{url: 'http://127.0.0.2:1/'}":                                 false,
		"{url: 'https://[::1]/'}":                                      false,
		"{url: 'http://localhost/'}":                                   false,
		"{url: 'http://keystone.example/', unix_socket: /run/k.sock}":  false,
		"{url_from: {vhost: /etc/httpd/conf.d/10-keystone_wsgi.conf}}": false,
	} {
		c := &httpkind.Config{}
		collectortest.Decode(t, config, c)
		if got := c.External(); got != want || c.Uses() != nil {
			t.Errorf("External(%s), Uses() = %v, %v, want %v, nil", config, got, c.Uses(), want)
		}
	}
}
