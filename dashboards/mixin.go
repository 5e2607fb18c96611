package dashboards

import "embed"

//go:embed mixin.libsonnet
var mixin embed.FS

// Mixin returns mixin.libsonnet, which imports the dashboards and alerts/alerts.yml.
func Mixin() string {
	data, err := mixin.ReadFile("mixin.libsonnet")
	if err != nil {
		panic("internal error: " + err.Error()) // the file is embedded
	}
	return string(data)
}
