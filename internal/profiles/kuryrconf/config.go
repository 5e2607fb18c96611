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
	// FailuresCount is the maximum of consecutive failures; 3.
	FailuresCount int
	// VIFAnnotationTimeout bounds the wait of a request for the controller; 60 s.
	VIFAnnotationTimeout time.Duration
}

// Kubernetes is the connection to the Kubernetes API and Kuryr's use of it.
type Kubernetes struct {
	// APIRoot is the URL of the Kubernetes API as the file has it: empty means the cluster of
	// the pod, and nil that the file does not set it. API returns what follows.
	APIRoot *string
	// TokenFile takes precedence over the client certificate unless it is empty.
	TokenFile        string
	SSLCACrtFile     string
	SSLClientCrtFile string
	SSLClientKeyFile string
	// SSLVerifyServerCrt is false by default: Kuryr then accepts any certificate.
	SSLVerifyServerCrt bool
	// VIFPoolDriver is "noop" without pools of ports.
	VIFPoolDriver string
	// PodVIFDriver is neutron-vif (the default) where the pods' ports are plugged into a
	// bridge of the node.
	PodVIFDriver    string
	EnabledHandlers []string
	// ControllerHA is set if several controllers elect a leader.
	ControllerHA            bool
	ControllerHAElectorPort int // 16401
}

// NeutronDefaults are defaults for Kuryr's use of Neutron.
type NeutronDefaults struct {
	Project   string // the ID of the project of the quotas
	OVSBridge string // of the nodes; empty for none
}

// Neutron is Kuryr's authentication with Keystone and its endpoint of Neutron. The options
// are those of keystoneauth. Those for authentication are in the section that
// auth_section names, if it is set.
type Neutron struct {
	AuthURL           string
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

// PrometheusExporter has the port of the CNI daemon's metrics.
type PrometheusExporter struct {
	CNIExporterPort int // 9655
}

// Default returns the configuration of an empty file.
func Default() *Config {
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	return &Config{
		Health:    Health{Port: 8082},
		CNIHealth: CNIHealth{Port: 8090, MaxMemoryUsage: -1},
		CNIDaemon: CNIDaemon{FailuresCount: 3, VIFAnnotationTimeout: time.Minute},
		Kubernetes: Kubernetes{
			TokenFile:               account + "token",
			SSLCACrtFile:            account + "ca.crt",
			VIFPoolDriver:           "noop",
			PodVIFDriver:            "neutron-vif",
			EnabledHandlers:         []string{"vif", "endpoints", "service", "kuryrloadbalancer", "kuryrport"},
			ControllerHAElectorPort: 16401,
		},
		Neutron:            Neutron{EndpointType: "public"},
		PrometheusExporter: PrometheusExporter{CNIExporterPort: 9655},
	}
}
