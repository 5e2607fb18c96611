package main

import (
	"log/slog"
	"os"

	"github.com/alecthomas/kingpin/v2"

	"github.com/vitals-health/vitals/internal/kubereport"
	"github.com/vitals-health/vitals/internal/server/ownmetrics"
)

// kubernetesFlags declares the flags of the reports to Kubernetes.
func (p *program) kubernetesFlags(cmd *kingpin.CmdClause) {
	o := &p.kubernetes
	cmd.Flag("kubernetes.events", "Report changes of states as Kubernetes events about the pod. Needs the environment variables POD_NAME, POD_NAMESPACE and POD_UID of the downward API, and the right to create and patch events.").BoolVar(&o.Events)
	cmd.Flag("kubernetes.readiness-gate", "Report ready as a condition of this type of the pod, for one of its readiness gates. Needs POD_NAME, POD_NAMESPACE and POD_UID, and the right to patch pods/status.").PlaceHolder("TYPE").StringVar(&o.ReadinessGate)
	cmd.Flag("kubernetes.node-condition", "Report ready as a condition of this type of the node, for a DaemonSet. Needs NODE_NAME, and the right to patch nodes/status.").PlaceHolder("TYPE").StringVar(&o.NodeCondition)
	cmd.Flag("kubernetes.kubeconfig", "The kubeconfig file for these reports. By default the pod's service account.").PlaceHolder("FILE").StringVar(&o.Kubeconfig)
}

// newReporter returns what the flags select, or nil for no reports.
func (p *program) newReporter(logger *slog.Logger) (*kubereport.Reporter, error) {
	return kubereport.New(p.kubernetes, kubereport.Env{Getenv: os.Getenv, Hide: p.secrets.Add, Clean: p.secrets.Text, Logger: logger})
}

// reportsOf returns what became of the reports, for the metrics.
func reportsOf(r *kubereport.Reporter) ownmetrics.KubernetesReports {
	var reports ownmetrics.KubernetesReports
	for _, status := range r.Status() {
		reports.Rights = append(reports.Rights, ownmetrics.ReportRight(status))
	}
	reports.Dropped, reports.Events = r.Dropped()
	return reports
}
