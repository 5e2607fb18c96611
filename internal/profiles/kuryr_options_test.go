package profiles

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kuryrOptions are the options of kuryr.conf that the reader reads, each with a value that
// changes a profile, and the lines of a file that it needs for that.
func kuryrOptions() map[string]struct{ value, needs string } {
	const person = "[neutron]\nauth_url = http://192.0.2.20:5000\nusername = kuryr\npassword = s3cret\nuser_domain_name = Default\nproject_name = k8s\nproject_domain_name = Default\n"
	const nameless = "[neutron]\nauth_url = http://192.0.2.20:5000\npassword = s3cret\nproject_name = k8s\nproject_domain_name = Default\n"
	const homeless = "[neutron]\nauth_url = http://192.0.2.20:5000\nusername = kuryr\npassword = s3cret\nuser_domain_name = Default\n"
	const domainless = "[neutron]\nauth_url = http://192.0.2.20:5000\nusername = kuryr\npassword = s3cret\nproject_name = k8s\n"
	const credential = "[neutron]\nauth_url = http://192.0.2.20:5000\napplication_credential_secret = s3cret\nusername = kuryr\nuser_domain_name = Default\n"
	const https = "[kubernetes]\napi_root = https://192.0.2.10:6443\n"
	type given = struct{ value, needs string }
	return map[string]given{
		"health_server port":                    {"8191", person},
		"cni_health_server port":                {"8190", ""},
		"cni_health_server max_memory_usage":    {"512", ""},
		"cni_health_server cg_path":             {"/kuryr.slice", ""},
		"cni_daemon cni_failures_count":         {"7", ""},
		"cni_daemon vif_annotation_timeout":     {"30", ""},
		"neutron_defaults project":              {"9d2c", person},
		"neutron_defaults ovs_bridge":           {"br-int", ""},
		"prometheus_exporter cni_exporter_port": {"19655", ""},
		"kubernetes api_root":                   {"https://192.0.2.11:6443", ""},
		"kubernetes token_file":                 {"/etc/kuryr/token", ""},
		"kubernetes ssl_ca_crt_file":            {"/etc/kuryr/ca.crt", https + "ssl_verify_server_crt = True\n"},
		"kubernetes ssl_client_crt_file":        {"/etc/kuryr/c.crt", https + "token_file =\nssl_client_key_file = /etc/kuryr/c.key\n"},
		"kubernetes ssl_client_key_file":        {"/etc/kuryr/c.key", https + "token_file =\nssl_client_crt_file = /etc/kuryr/c.crt\n"},
		"kubernetes ssl_verify_server_crt":      {"True", https},
		"kubernetes vif_pool_driver":            {"neutron", person},
		"kubernetes pod_vif_driver":             {"nested-vlan", "[neutron_defaults]\novs_bridge = br-int\n"},
		"kubernetes enabled_handlers":           {"vif", person},
		"kubernetes controller_ha":              {"True", person},
		"kubernetes controller_ha_elector_port": {"16402", person + "[kubernetes]\ncontroller_ha = True\n"},
		"neutron region_name":                   {"RegionTwo", person},
		"neutron endpoint_type":                 {"internal", person},
		"neutron valid_interfaces":              {"admin", person},
		"neutron cafile":                        {"/etc/ssl/ca.pem", person},
		"neutron certfile":                      {"/etc/ssl/c.pem", person + "keyfile = /etc/ssl/c.key\n"},
		"neutron keyfile":                       {"/etc/ssl/c.key", person + "certfile = /etc/ssl/c.pem\n"},
		"neutron insecure":                      {"True", person},
		"neutron timeout":                       {"8", person},
		"neutron auth_section":                  {"other", person + "[other]\nauth_url = http://192.0.2.21:5000\napplication_credential_id = 1\napplication_credential_secret = s3cret\n"},
		"neutron auth_url":                      {"http://192.0.2.21:5000", person},
		"neutron username":                      {"other", person},
		"neutron user_id":                       {"1", nameless},
		"neutron password":                      {"other", person},
		"neutron user_domain_name":              {"other", person},
		"neutron user_domain_id":                {"other", person},
		"neutron project_name":                  {"other", person},
		"neutron project_id":                    {"1", homeless},
		"neutron project_domain_name":           {"other", person},
		"neutron project_domain_id":             {"other", person},
		"neutron default_domain_name":           {"Default", domainless},
		"neutron default_domain_id":             {"default", domainless},
		"neutron application_credential_id":     {"1", credential},
		"neutron application_credential_name":   {"kuryr", credential},
		"neutron application_credential_secret": {"other", credential + "application_credential_name = kuryr\n"},
	}
}

// Each option that the reader reads changes a profile: none is read for nothing.
func TestEachOptionIsUsed(t *testing.T) {
	for option, given := range kuryrOptions() {
		t.Run(option, func(t *testing.T) {
			section, name, _ := strings.Cut(option, " ")
			with := given.needs + "[" + section + "]\n" + name + " = " + given.value + "\n"
			for _, profile := range []string{"kuryr-controller", "kuryr-cni"} {
				before, _ := load(t, profile, given.needs, nil)
				after, errs := load(t, profile, with, nil)
				if len(errs) > 0 {
					t.Fatal(errs)
				}
				for i := range before.Config.Collectors { // the path of the file itself
					if before.Config.Collectors[i].Name == "kuryr-conf" {
						before.Config.Collectors[i].File.Path = after.Config.Collectors[i].File.Path
					}
				}
				if !cmp.Equal(before.Config, after.Config) {
					return
				}
			}
			t.Errorf("%s = %s changes no profile, want each option that is read to have an effect", option, given.value)
		})
	}
}

// The table above has every option that the reader reads, and the pages list every one of
// them as used. What they list as not used is not read.
func TestOptionsAreComplete(t *testing.T) {
	read := readOptions(t)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(kuryrOptions())), read); diff != "" {
		t.Errorf("options (-tested +read):\n%s", diff)
	}
	used, unused := pageOptions(t)
	for _, option := range read {
		// The pages name [neutron] and ssl_* as a whole.
		whole := strings.HasPrefix(option, "neutron ") || strings.HasPrefix(option, "kubernetes ssl_")
		if !slices.Contains(used, option) && !whole {
			t.Errorf("option %s is on no page of a profile, want it in the table of options", option)
		}
	}
	for _, option := range []string{
		"cni_daemon bind_address", "kubernetes watch_retry_timeout", "kubernetes watch_connection_timeout", "kubernetes watch_read_timeout",
		"kubernetes watch_reconcile_period", "neutron auth_type", "prometheus_exporter controller_exporter_port",
	} {
		if !slices.Contains(unused, option) {
			t.Errorf("option %s is neither read nor on a page as not used", option)
		}
	}
	for _, option := range unused {
		if slices.Contains(read, option) {
			t.Errorf("a page lists %s as not used, and the reader reads it", option)
		}
	}
}

// readOptions returns the options that the source of the reader names, as "section name".
func readOptions(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("kuryrconf", "parse.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range file.Decls {
		section := map[string]string{"readAuth": "neutron"}[nameOf(d)]
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				section = text(t, n.Values[0])
			case *ast.CallExpr:
				if on, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) >= 3 && on.X.(*ast.Ident).Name == "r" {
					in := section
					if _, literal := n.Args[1].(*ast.BasicLit); literal {
						in = text(t, n.Args[1])
					}
					all = append(all, in+" "+text(t, n.Args[2]))
				}
			}
			return true
		})
	}
	slices.Sort(all)
	return all
}

func nameOf(d ast.Decl) string {
	if f, ok := d.(*ast.FuncDecl); ok {
		return f.Name.Name
	}
	return ""
}

// text returns the value of a string literal.
func text(t *testing.T, e ast.Expr) string {
	t.Helper()
	s, err := strconv.Unquote(e.(*ast.BasicLit).Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var quotedName = regexp.MustCompile("`(?:\\[(\\w+)\\])? ?(\\w*)\\*?`")

// pageOptions returns the options in the tables of the pages: those that are used, and
// those that are not.
func pageOptions(t *testing.T) (used, unused []string) {
	t.Helper()
	for _, page := range []string{"kuryr-controller", "kuryr-cni"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", page+".md"))
		if err != nil {
			t.Fatal(err)
		}
		_, section, found := strings.Cut(string(data), "\n### Options of kuryr.conf\n")
		if !found {
			t.Fatalf("%s has no section about kuryr.conf", page)
		}
		section, _, _ = strings.Cut(section, "\n##")
		to := &used
		for line := range strings.Lines(section) {
			cells := strings.Split(line, " | ")
			if strings.HasPrefix(line, "| not used |") {
				to = &unused
			}
			in := ""
			for _, m := range quotedName.FindAllStringSubmatch(cells[0], -1) {
				if m[1] != "" {
					in = m[1]
				}
				*to = append(*to, in+" "+m[2])
			}
		}
	}
	return used, unused
}
