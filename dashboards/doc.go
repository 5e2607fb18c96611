// Package dashboards generates Grafana dashboards of the metrics of Vitals, and of a user's
// rules. "vitals generate dashboards" writes the files in this folder, and a test compares
// them with the code.
//
// The dashboards are in Grafana's classic JSON model, which versions 8.5 to 13 load. Their
// queries select only targets of Vitals, of the chosen jobs and instances.
package dashboards
