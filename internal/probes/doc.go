// Package probes calculates the probes of Kubernetes that fit a configuration: those of the
// container that Vitals judges, and that of Vitals' own container.
package probes
