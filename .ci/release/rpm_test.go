package main

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sassoftware/go-rpmutils"
)

// An independent reader finds the files, their owner and their content in the rpm.
func TestRPM(t *testing.T) {
	_, data := packageOf(t, "rpm", exampleExtras())
	r, err := rpmutils.ReadRpm(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	nevra, err := r.Header.GetNEVRA()
	if err != nil || nevra.Name != "vitals" || nevra.Version != "1.2.3+a" || nevra.Arch != "x86_64" {
		t.Errorf("GetNEVRA() = %v, %v, want vitals 1.2.3+a for x86_64", nevra, err)
	}
	if host, err := r.Header.GetString(rpmutils.BUILDHOST); err != nil || host != "localhost" {
		t.Errorf("the host of the build is %q, %v, want none of this machine", host, err)
	}
	payload, err := r.PayloadReaderExtended()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for {
		info, err := payload.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if info.UserName() != "root" || info.GroupName() != "root" {
			t.Errorf("%s is of %s:%s, want root:root", info.Name(), info.UserName(), info.GroupName())
		}
		text, err := io.ReadAll(payload)
		if err != nil {
			t.Fatal(err)
		}
		got[info.Name()] = string(text)
	}
	delete(got, "/usr/share/man/man1/vitals.1.gz") // compressed
	want := map[string]string{
		"/etc/vitals/vitals.yml": "collectors: []\n", "/etc/vitals/rules.yml": "",
		"/usr/bin/vitals": "vitals of amd64", "/usr/bin/vitals-healthcheck": "healthcheck of amd64",
		"/usr/lib/systemd/system/vitals.service": "ExecStart=/usr/bin/vitals run\n", "/usr/lib/systemd/system/vitals.socket": "",
		"/usr/lib/systemd/user/vitals.service": "", "/usr/share/doc/vitals/copyright": "a licence",
		"/usr/share/bash-completion/completions/vitals": "", "/usr/share/zsh/site-functions/_vitals": "",
		"/usr/share/fish/vendor_completions.d/vitals.fish": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files differ (-want +got):\n%s", diff)
	}
}
