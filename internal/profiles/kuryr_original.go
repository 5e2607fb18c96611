package profiles

import (
	"errors"
	"net/url"

	"github.com/vitals-health/vitals/collectors/http"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/internal/config"
)

// originalVariable is the variable for the URL of Kuryr's own health server. Its /alive and
// /ready then become collectors with rules. Kuryr listens on the port of kuryr.conf, so
// Vitals listens on listen.
func originalVariable(listen string) variable {
	return variable{"original", func(c *config.Config, value string) error {
		for _, path := range []string{"alive", "ready"} {
			original, err := originalCollector(value, path)
			if err != nil {
				return err
			}
			c.Collectors = append(c.Collectors, original)
		}
		c.RuleFiles = append(c.RuleFiles, config.BuiltinPrefix+"kuryr-original")
		c.Server.ListenAddress = listen
		return nil
	}}
}

// originalCollector returns the collector of a path of Kuryr's own health server.
func originalCollector(value, path string) (kinds.Config, error) {
	k := &http.Config{}
	k.SetDefaults()
	k.URL, k.NoteFormat = value, "%{http_code} %{body}"
	if len(k.Problems()) > 0 || k.External() {
		return kinds.Config{}, errors.New("expected a URL of this host without credentials, such as http://127.0.0.1:8082")
	}
	var err error
	if k.URL, err = url.JoinPath(value, path); err != nil {
		return kinds.Config{}, err
	}
	c := kinds.Config{Name: "original-" + path, Kinds: kinds.Kinds{HTTP: k}}
	c.SetDefaults()
	return c, nil
}

// setKuryrPort makes Vitals listen on the port of kuryr.conf, unless Kuryr itself does.
func (o *Options) setKuryrPort(c *config.Config, address string) {
	if o.Set["original"] == "" {
		c.Server.ListenAddress = address
	}
}
