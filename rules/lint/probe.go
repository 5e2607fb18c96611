package lint

import "time"

// Probe is a probe of a Kubernetes container that asks Vitals.
type Probe struct {
	// File, Line and Col are where it stands; Where names the workload, the container
	// and the probe, such as "Deployment app, container app, livenessProbe".
	File      string
	Line, Col int
	Where     string
	// Kind is startup, liveness or readiness.
	Kind string
	// Path, Port and Host are those of an httpGet; Command those of an exec probe. Port
	// is a number; zero where it is a name that no container port has.
	Path    string
	Port    int
	Host    string
	Command []string
	// The kubelet's settings, with its defaults filled in.
	InitialDelay, Period, Timeout      time.Duration
	FailureThreshold, SuccessThreshold int
}
