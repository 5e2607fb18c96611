// Package kuryrconf reads the part of a kuryr.conf that Vitals uses, with the names and
// defaults of Kuryr-Kubernetes. It ignores all other options.
package kuryrconf

import (
	"time"

	"github.com/vitals-health/vitals/collectors"
)

// Config is the part of a kuryr.conf that Vitals uses. Default returns the values of
// options that the file does not set.
type Config struct {
	Health             Health             // [health_server]
	CNIHealth          CNIHealth          // [cni_health_server]
	CNIDaemon          CNIDaemon          // [cni_daemon]
	Kubernetes         Kubernetes         // [kubernetes]
	NeutronDefaults    NeutronDefaults    // [neutron_defaults]
	Neutron            Neutron            // [neutron]
	PrometheusExporter PrometheusExporter // [prometheus_exporter]
}

// Health is the server of the controller's probes.
type Health struct {
	Port int // 8082
}

// CNIHealth is the server of the CNI daemon's probes, and the daemon's memory limit.
type CNIHealth struct {
	Port int // 8090
	// MaxMemoryUsage is the limit in MiB; -1, the default, is none.
	MaxMemoryUsage int
	// CgPath is the absolute path of the cgroup of the memory limit. It is empty if the
	// file does not set it: Kuryr's default exists in cgroup v1 only.
	CgPath string
}

// CNIDaemon is the configuration of the CNI daemon.
type CNIDaemon struct {
	BindAddress string // host:port; 127.0.0.1:5036
	// FailuresCount is the maximum of consecutive failures; 3.
	FailuresCount int
	// VIFAnnotationTimeout bounds the wait of a request for the controller; 60 s.
	VIFAnnotationTimeout time.Duration
}

// Kubernetes is the connection to the Kubernetes API and Kuryr's use of it.
type Kubernetes struct {
	// APIRoot is https://localhost:6443 by default. Kuryr then prefers the environment
	// variable K8S_API, which this package does not read.
	APIRoot string
	// TokenFile takes precedence over the client certificate unless it is empty.
	TokenFile        string
	SSLCACrtFile     string
	SSLClientCrtFile string
	SSLClientKeyFile string
	// SSLVerifyServerCrt is false by default: Kuryr then accepts any certificate.
	SSLVerifyServerCrt bool
	// VIFPoolDriver is "noop" without pools of ports.
	VIFPoolDriver   string
	EnabledHandlers []string
	// ControllerHA is set if several controllers elect a leader.
	ControllerHA            bool
	ControllerHAElectorPort int // 16401
	// The timeouts of the watches. A reconcile period of zero disables reconciliation.
	WatchRetryTimeout      time.Duration // 60 s
	WatchConnectionTimeout time.Duration // 30 s
	WatchReadTimeout       time.Duration // 60 s
	WatchReconcilePeriod   time.Duration // 120 s
}

// NeutronDefaults are defaults for Kuryr's use of Neutron.
type NeutronDefaults struct {
	Project   string // the ID of the project of the quotas
	OVSBridge string
}

// Neutron is Kuryr's authentication with Keystone and its endpoint of Neutron. The options
// are those of keystoneauth. Those for authentication are in the section that
// auth_section names, if it is set.
type Neutron struct {
	AuthURL string
	// AuthType is the plugin, such as password, v3password or v3applicationcredential.
	// It is empty if no authentication is configured.
	AuthType          string
	Username          string
	UserID            string
	Password          collectors.Secret
	UserDomainName    string
	UserDomainID      string
	ProjectName       string
	ProjectID         string
	ProjectDomainName string
	ProjectDomainID   string
	// DefaultDomainName and DefaultDomainID are the defaults for the domains of the user
	// and of the project.
	DefaultDomainName string
	DefaultDomainID   string

	ApplicationCredentialID     string
	ApplicationCredentialName   string
	ApplicationCredentialSecret collectors.Secret

	RegionName string
	// EndpointType is public (the default), internal or admin.
	EndpointType string
	// ValidInterfaces are tried in this order, instead of EndpointType.
	ValidInterfaces []string

	CAFile   string
	CertFile string
	KeyFile  string
	// Insecure accepts any certificate.
	Insecure bool
	// Timeout bounds a request; zero, the default, is none.
	Timeout time.Duration
}

// PrometheusExporter has the ports of Kuryr's metrics.
type PrometheusExporter struct {
	ControllerExporterPort int // 9654
	CNIExporterPort        int // 9655
}

// Default returns the configuration of an empty file.
func Default() *Config {
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	return &Config{
		Health:    Health{Port: 8082},
		CNIHealth: CNIHealth{Port: 8090, MaxMemoryUsage: -1},
		CNIDaemon: CNIDaemon{BindAddress: "127.0.0.1:5036", FailuresCount: 3, VIFAnnotationTimeout: time.Minute},
		Kubernetes: Kubernetes{
			APIRoot:                 "https://localhost:6443",
			TokenFile:               account + "token",
			SSLCACrtFile:            account + "ca.crt",
			VIFPoolDriver:           "noop",
			EnabledHandlers:         []string{"vif", "endpoints", "service", "kuryrloadbalancer", "kuryrport"},
			ControllerHAElectorPort: 16401,
			WatchRetryTimeout:       time.Minute,
			WatchConnectionTimeout:  30 * time.Second,
			WatchReadTimeout:        time.Minute,
			WatchReconcilePeriod:    2 * time.Minute,
		},
		Neutron:            Neutron{EndpointType: "public"},
		PrometheusExporter: PrometheusExporter{ControllerExporterPort: 9654, CNIExporterPort: 9655},
	}
}
