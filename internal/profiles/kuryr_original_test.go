package profiles

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// --set original adds the collectors of Kuryr's own health server and their rules, and
// leaves its port to it. Without the variable nothing changes.
func TestOriginalVariable(t *testing.T) {
	type loaded struct {
		Listen, Alive, Ready string
		Rules                bool
	}
	for _, tt := range []struct {
		profile, original string
		want              loaded
	}{
		{"kuryr-controller", "", loaded{Listen: ":8082"}},
		{"kuryr-cni", "", loaded{Listen: ":8090"}},
		{"kuryr-controller", "http://127.0.0.1:8082", loaded{":8083", "http://127.0.0.1:8082/alive", "http://127.0.0.1:8082/ready", true}},
		{"kuryr-cni", "http://[::1]:8090/", loaded{":8092", "http://[::1]:8090/alive", "http://[::1]:8090/ready", true}},
	} {
		t.Run(tt.profile+" "+tt.original, func(t *testing.T) {
			set := map[string]string{}
			if tt.original != "" {
				set["original"] = tt.original
			}
			l := mustLoad(t, tt.profile, minimalConf, set)
			got := loaded{Listen: l.Config.Server.ListenAddress, Rules: hasRule(l, "OriginalDead")}
			if c := collectorNamed(l, "original-alive").HTTP; c != nil {
				got.Alive = c.URL
			}
			if c := collectorNamed(l, "original-ready").HTTP; c != nil {
				got.Ready = c.URL
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOriginalVariableMistakes(t *testing.T) {
	const want = ": expected a URL of this host without credentials, such as http://127.0.0.1:8082"
	for value, shown := range map[string]string{
		"127.0.0.1:8082":                "127.0.0.1:8082",
		"http://192.0.2.1:8082":         "http://192.0.2.1:8082",
		"http://u:s3cret@localhost:808": "http://<secret>@localhost:808",
	} {
		_, errs := load(t, "kuryr-controller", minimalConf, map[string]string{"original": value})
		if err := errors.Join(errs...); err == nil || !strings.Contains(err.Error(), "--set original="+shown+want) {
			t.Errorf("Load() with original=%s = %v, want %q", value, err, shown+want)
		}
	}
}
