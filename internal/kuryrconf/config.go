// Package kuryrconf reads what Vitals needs of an existing kuryr.conf, with the
// names, defaults and spellings that Kuryr-Kubernetes itself gives its options
// through oslo.config. Options that it does not know are none of its business.
package kuryrconf

import "time"

// Config is the part of a kuryr.conf that Vitals uses. Default returns what holds
// where the file says nothing.
type Config struct {
	Health             Health             // [health_server]
	CNIHealth          CNIHealth          // [cni_health_server]
	CNIDaemon          CNIDaemon          // [cni_daemon]
	Kubernetes         Kubernetes         // [kubernetes]
	NeutronDefaults    NeutronDefaults    // [neutron_defaults]
	Neutron            Neutron            // [neutron]
	PrometheusExporter PrometheusExporter // [prometheus_exporter]
}

// Health is where the controller's probes are answered.
type Health struct {
	Port int // 8082
}

// CNIHealth is where the CNI daemon's probes are answered, and its memory limit.
type CNIHealth struct {
	Port int // 8090
	// MaxMemoryUsage is the limit in MiB; -1, the default, is none.
	MaxMemoryUsage int
	// CgPath is the absolute path of the cgroup whose memory counts. It is empty where
	// the file says nothing: Kuryr's own default is a place that only cgroup v1 has.
	CgPath string
}

// CNIDaemon is the CNI daemon's own configuration.
type CNIDaemon struct {
	BindAddress string // host:port; 127.0.0.1:5036
	// FailuresCount is how many failures in a row the daemon may have; 3.
	FailuresCount int
	// VIFAnnotationTimeout is how long a request waits for the controller; 60 s.
	VIFAnnotationTimeout time.Duration
}

// Kubernetes is how Kuryr reaches the Kubernetes API and what it does with it.
type Kubernetes struct {
	// APIRoot is https://localhost:6443 where the file says nothing. Kuryr then
	// prefers the environment variable K8S_API, which this package does not read.
	APIRoot string
	// TokenFile is preferred to the client certificate when it is not empty.
	TokenFile        string
	SSLCACrtFile     string
	SSLClientCrtFile string
	SSLClientKeyFile string
	// SSLVerifyServerCrt is false by default: Kuryr then takes any certificate.
	SSLVerifyServerCrt bool
	// VIFPoolDriver is "noop" where there are no pools of ports.
	VIFPoolDriver   string
	EnabledHandlers []string
	// ControllerHA says that several controllers elect a leader.
	ControllerHA            bool
	ControllerHAElectorPort int // 16401
	// The timeouts of the watches; a reconcile period of zero is never.
	WatchRetryTimeout      time.Duration // 60 s
	WatchConnectionTimeout time.Duration // 30 s
	WatchReadTimeout       time.Duration // 60 s
	WatchReconcilePeriod   time.Duration // 120 s
}

// NeutronDefaults is what Kuryr uses of Neutron where nothing else is said.
type NeutronDefaults struct {
	Project   string // the identifier of the project whose quotas count
	OVSBridge string
}

// Neutron is how Kuryr authenticates with Keystone and finds Neutron. Its options
// are those of keystoneauth; the ones for authentication come from the section that
// auth_section names, where it is set.
type Neutron struct {
	AuthURL string
	// AuthType is the plugin: password, v3password, v3applicationcredential and
	// others. Empty means that nothing is configured.
	AuthType          string
	Username          string
	UserID            string
	Password          Secret
	UserDomainName    string
	UserDomainID      string
	ProjectName       string
	ProjectID         string
	ProjectDomainName string
	ProjectDomainID   string
	// DefaultDomainName and DefaultDomainID stand in for the domains of the user
	// and of the project where those are not set.
	DefaultDomainName string
	DefaultDomainID   string

	ApplicationCredentialID     string
	ApplicationCredentialName   string
	ApplicationCredentialSecret Secret

	RegionName string
	// EndpointType is public (the default), internal or admin.
	EndpointType string
	// ValidInterfaces are those to try, in this order, instead of EndpointType.
	ValidInterfaces []string

	CAFile   string
	CertFile string
	KeyFile  string
	// Insecure takes any certificate.
	Insecure bool
	// Timeout of a request; zero, the default, is none.
	Timeout time.Duration
}

// PrometheusExporter is where Kuryr's own metrics are served.
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
