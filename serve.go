package vitals

import (
	"os"
	"runtime/debug"

	"github.com/vitals-health/vitals/internal/configfile"
	"github.com/vitals-health/vitals/internal/explain"
	"github.com/vitals-health/vitals/internal/server"
)

// newServer returns what renders the snapshots.
func (v *Evaluator) newServer(title string, allowedHosts []string) *server.Server {
	host, _ := os.Hostname() // after an error, the page has no name
	settings := func() *configfile.ServerConfig { return &v.current.Load().loaded.Config.Server }
	return server.New(server.Options{
		Snapshot:      v.eval.Snapshot,
		Changed:       v.eval.Changed,
		Explain:       explain.New(v.eval).Explain,
		History:       v.history,
		FailingStatus: func() int { return settings().FailingStatus },
		Report:        v.Report,
		ReportToken:   func() string { return settings().ComponentToken.Value() },
		Components:    v.components,
		Overrides:     v.eval,
		OperatorToken: func() string { return settings().OperatorToken.Value() },
		Config:        func() []byte { return []byte(v.secrets.Text(string(v.current.Load().loaded.Redacted))) },
		Hosts:         append([]string{host}, allowedHosts...),
		Version:       version(),
		About:         server.About{Title: title, Host: host},
		Logger:        v.logger,
	})
}

// components returns the last report of every component, without secrets.
func (v *Evaluator) components() []server.ComponentStatus {
	c := v.current.Load().components
	if c == nil {
		return nil
	}
	return server.ComponentsOf(c.Status(), v.secrets.Text)
}

// modulePath is the path of this module.
const modulePath = "github.com/vitals-health/vitals"

// version returns the version of this module in the program; empty where the build has none.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == modulePath {
			return m.Version
		}
	}
	return ""
}
