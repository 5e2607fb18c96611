package main

import (
	"log/slog"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"

	"github.com/vitals-health/vitals/internal/alertmanager"
	"github.com/vitals-health/vitals/internal/server/ownmetrics"
)

// alertmanagerFlags declares the flags of the alerts that are sent.
func (p *program) alertmanagerFlags(cmd *kingpin.CmdClause) {
	o := &p.alertmanager
	o.TargetLabels, o.ExternalLabels = map[string]string{}, map[string]string{}
	cmd.Flag("alertmanager.url", "Send the alerts of all rules to this Alertmanager, such as http://alertmanager:9093, as Prometheus does. Repeatable, for each instance of a cluster.").PlaceHolder("URL").StringsVar(&o.URLs)
	cmd.Flag("alertmanager.http.config.file", "Credentials and TLS for these requests, in the format of http_config of Prometheus.").PlaceHolder("FILE").StringVar(&o.HTTPConfigFile)
	cmd.Flag("alertmanager.target-label", "A label that Prometheus adds to the metrics of this instance, such as job=vitals or instance=10.0.0.7:8080: added to an alert unless its expression drops it. Repeatable.").PlaceHolder("NAME=VALUE").StringMapVar(&o.TargetLabels)
	cmd.Flag("alertmanager.external-label", "A label for each alert that does not have it, as in external_labels of Prometheus, such as cluster=prod. Repeatable.").PlaceHolder("NAME=VALUE").StringMapVar(&o.ExternalLabels)
	cmd.Flag("web.external-url", "The address of the status page for people, such as https://vitals.example.org: the link in alerts. By default they have none.").PlaceHolder("URL").StringVar(&o.ExternalURL)
}

// newAlertmanager returns what sends alerts, or nil for no Alertmanager.
func (p *program) newAlertmanager(logger *slog.Logger) (*alertmanager.Notifier, error) {
	return alertmanager.New(p.alertmanager, alertmanager.Env{Hide: p.secrets.Add, Clean: p.secrets.Text, Logger: logger, Version: version.Version})
}

// notificationsOf returns what was sent to each Alertmanager, for the metrics.
func notificationsOf(n *alertmanager.Notifier) []ownmetrics.Notifications {
	var all []ownmetrics.Notifications
	for _, status := range n.Status() {
		all = append(all, ownmetrics.Notifications{
			Alertmanager: status.URL, Requested: status.Requested, Success: status.Success,
			Sent: status.Sent, Errors: status.Errors, Dropped: status.Dropped,
			Requests: status.Requests, Took: status.Took, Waiting: status.Waiting, Capacity: alertmanager.Capacity,
		})
	}
	return all
}
