package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	contentfiles "github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// formats are those of packages.
func formats() []string { return []string{"deb", "rpm"} }

// packaged writes a package of one platform to a directory and returns its name.
func (s source) packaged(format string, p platform, all []file, dir string) (string, error) {
	tmp, err := os.MkdirTemp("", "vitals-package")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	var contents contentfiles.Contents
	for i, f := range all {
		from := filepath.Join(tmp, fmt.Sprint(i))
		if err := os.WriteFile(from, f.data, 0o600); err != nil {
			return "", err
		}
		kind := contentfiles.TypeFile
		if strings.HasPrefix(f.path, "etc/") {
			kind = contentfiles.TypeConfigNoReplace
		}
		contents = append(contents, &contentfiles.Content{
			Source: from, Destination: "/" + f.path, Type: kind,
			FileInfo: &contentfiles.ContentFileInfo{Owner: "root", Group: "root", Mode: fs.FileMode(f.mode), MTime: s.at},
		})
	}
	script := filepath.Join(s.root, "deploy", "package", "installed.sh")
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "vitals", Arch: p.arch, Platform: p.os, Version: packageVersion(s.version), Section: "net", Priority: "optional",
		Maintainer: "The Vitals authors <" + home + ">", Homepage: home, License: "Apache-2.0", MTime: s.at, DisableGlobbing: true,
		Description: "Health evaluator for probes, metrics and alerts\nCollectors measure, rules in Prometheus' alerting-rule format decide, and probes,\nmetrics and alerts show the same state.",
		Overridables: nfpm.Overridables{
			Contents: contents, Scripts: nfpm.Scripts{PostInstall: script, PostRemove: script},
			// Without a name, it would be that of the machine.
			RPM: nfpm.RPM{BuildHost: "localhost"},
		},
	})
	packager, err := nfpm.Get(format)
	if err != nil {
		return "", err
	}
	name := packager.ConventionalFileName(info)
	var b bytes.Buffer
	if err := packager.Package(info, &b); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return name, write(filepath.Join(dir, name), b.Bytes())
}

// packageVersion is a version that packages sort: that of a release, or 0.0.0 and the commit.
func packageVersion(version string) string {
	if regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+($|[-+])`).MatchString(version) {
		return version
	}
	return "0.0.0-dev+" + strings.ReplaceAll(version, "-", ".")
}

// extras are the files of a release that the programs do not contain.
type extras struct {
	licences              []file
	man                   []byte
	bash, zsh, fish       []byte
	service, socket, user []byte
	configuration, rules  []byte
}

// extras collects them. The program is one that runs on this machine.
func (s source) extras(p platform, program string) (e extras, err error) {
	if e.licences, err = s.licences(p); err != nil {
		return e, err
	}
	for _, printed := range []struct {
		to   *[]byte
		args []string
	}{
		{&e.man, []string{"generate", "man"}}, {&e.bash, []string{"completion", "bash"}},
		{&e.zsh, []string{"completion", "zsh"}}, {&e.fish, []string{"completion", "fish"}},
	} {
		if *printed.to, err = s.output(nil, program, printed.args...); err != nil {
			return e, err
		}
	}
	for to, name := range map[*[]byte]string{
		&e.service: "systemd/vitals.service", &e.socket: "systemd/vitals.socket", &e.user: "systemd/user/vitals.service",
		&e.configuration: "package/vitals.yml", &e.rules: "package/rules.yml",
	} {
		if *to, err = os.ReadFile(filepath.Join(s.root, "deploy", name)); err != nil {
			return e, err
		}
	}
	return e, nil
}

// packageFiles are the files of a package of the format.
func packageFiles(format string, programs []file, e extras) ([]file, error) {
	var man bytes.Buffer
	z, err := gzip.NewWriterLevel(&man, gzip.DefaultCompression) // without a name and a time
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(e.man); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	// The units are for programs that an operator installs.
	installed := func(unit []byte) []byte {
		return bytes.ReplaceAll(unit, []byte("/usr/local/bin/vitals"), []byte("/usr/bin/vitals"))
	}
	zsh := "usr/share/zsh/vendor-completions/_vitals"
	if format == "rpm" {
		zsh = "usr/share/zsh/site-functions/_vitals"
	}
	all := []file{
		{"etc/vitals/vitals.yml", readable, e.configuration},
		{"etc/vitals/rules.yml", readable, e.rules},
		{"usr/lib/systemd/system/vitals.service", readable, installed(e.service)},
		{"usr/lib/systemd/system/vitals.socket", readable, e.socket},
		{"usr/lib/systemd/user/vitals.service", readable, installed(e.user)},
		{"usr/share/man/man1/vitals.1.gz", readable, man.Bytes()},
		{"usr/share/bash-completion/completions/vitals", readable, e.bash},
		{zsh, readable, e.zsh},
		{"usr/share/fish/vendor_completions.d/vitals.fish", readable, e.fish},
	}
	for _, l := range e.licences {
		name := strings.Replace(l.path, "LICENSE", "copyright", 1) // Debian's name for it
		all = append(all, file{"usr/share/doc/vitals/" + name, l.mode, l.data})
	}
	for _, p := range programs {
		// "healthcheck" is too general a name for a directory that everything shares.
		to := map[string]string{"vitals": "usr/bin/vitals", "healthcheck": "usr/bin/vitals-healthcheck"}[p.path]
		all = append(all, file{to, p.mode, p.data})
	}
	return all, nil
}
