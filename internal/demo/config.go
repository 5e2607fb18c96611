package demo

import (
	"net/http"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/fakes"
)

// The demo collects more often than the profile, so that changes show within seconds.
const (
	interval = model.Duration(2 * time.Second)
	timeout  = model.Duration(time.Second)
	// WatchIdleTimeout ends a watch without events or bookmarks, which the fake sends every
	// second. It is longer than the ten seconds after which a watch counts as working:
	// otherwise a reopened watch that stays silent would count as failed, and ready would
	// flap, which does not happen with the intervals of the profile.
	WatchIdleTimeout = model.Duration(12 * time.Second)
)

// PointAt configures the profile's collectors to connect to the fakes.
func PointAt(c *config.Config, cloud *fakes.Cloud, kubeconfig string) {
	for i := range c.Collectors {
		col := &c.Collectors[i]
		col.Interval, col.Timeout = interval, timeout
		switch {
		case col.Kubernetes != nil:
			col.Kubernetes.Kubeconfig = kubeconfig
			col.Kubernetes.WatchIdleTimeout = WatchIdleTimeout
		case col.Keystone != nil:
			auth := &col.Keystone.Auth
			auth.AuthURL, auth.Region = cloud.KeystoneURL(), cloud.Region()
			auth.Username, auth.Password = cloud.Username(), collectors.Secret(cloud.Password())
			auth.ProjectName = cloud.Project()
			auth.UserDomainName, auth.ProjectDomainName = cloud.Domain(), cloud.Domain()
		case col.Components != nil:
			col.Components.Expect = Components()
			col.Components.Deadline = deadline
		}
	}
}

// Routes returns the handlers of the paths that only the demo has: switches for faults.
func Routes(cloud *fakes.Cloud, w *Workload) map[string]http.Handler {
	return map[string]http.Handler{"/demo/faults": fakes.Handler(cloud, w)}
}
