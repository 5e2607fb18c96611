package kuryrconf

import (
	"cmp"
	"errors"
	"slices"

	"github.com/vitals-health/vitals/internal/oslo"
)

// Parse returns the configuration of a kuryr.conf, or every mistake in the file in the
// order of the lines, each as "path:line: mistake: expected ...". No error contains a
// password.
func Parse(path, text string) (*Config, []error) {
	config, mistakes := interpret(text)
	if len(mistakes) == 0 {
		return config, nil
	}
	errs := make([]error, 0, len(mistakes))
	for _, m := range mistakes {
		errs = append(errs, errors.New(m.In(path)))
	}
	return nil, errs
}

// interpret returns the configuration of a file's text and the mistakes in it.
func interpret(text string) (*Config, []oslo.Error) {
	parsed, mistakes := oslo.Parse(text)
	r := &reader{file: parsed, mistakes: mistakes}
	config := Default()
	config.read(r)
	slices.SortStableFunc(r.mistakes, func(a, b oslo.Error) int { return cmp.Compare(a.Line, b.Line) })
	return config, r.mistakes
}

// read reads all options.
func (c *Config) read(r *reader) {
	r.port(&c.Health.Port, "health_server", "port")
	r.port(&c.CNIHealth.Port, "cni_health_server", "port")
	r.number(&c.CNIHealth.MaxMemoryUsage, "cni_health_server", "max_memory_usage",
		func(n int) bool { return n == -1 || n >= 1 }, "a number of MiB, 1 or more, or -1 for no limit")
	r.path(&c.CNIHealth.CgPath, "cni_health_server", "cg_path")
	r.number(&c.CNIDaemon.FailuresCount, "cni_daemon", "cni_failures_count",
		func(n int) bool { return n >= 0 }, "a number of failures, 0 or more")
	r.seconds(&c.CNIDaemon.VIFAnnotationTimeout, "cni_daemon", "vif_annotation_timeout")
	r.text(&c.NeutronDefaults.Project, "neutron_defaults", "project")
	r.text(&c.NeutronDefaults.OVSBridge, "neutron_defaults", "ovs_bridge")
	r.port(&c.PrometheusExporter.CNIExporterPort, "prometheus_exporter", "cni_exporter_port")
	c.Kubernetes.read(r)
	c.Neutron.read(r)
}

func (k *Kubernetes) read(r *reader) {
	const section = "kubernetes"
	r.root(&k.APIRoot, section, "api_root")
	r.text(&k.TokenFile, section, "token_file")
	r.text(&k.SSLCACrtFile, section, "ssl_ca_crt_file")
	r.text(&k.SSLClientCrtFile, section, "ssl_client_crt_file")
	r.text(&k.SSLClientKeyFile, section, "ssl_client_key_file")
	r.boolean(&k.SSLVerifyServerCrt, section, "ssl_verify_server_crt")
	r.text(&k.VIFPoolDriver, section, "vif_pool_driver")
	r.text(&k.PodVIFDriver, section, "pod_vif_driver")
	r.list(&k.EnabledHandlers, section, "enabled_handlers")
	r.boolean(&k.ControllerHA, section, "controller_ha")
	r.port(&k.ControllerHAElectorPort, section, "controller_ha_elector_port")
}

func (n *Neutron) read(r *reader) {
	const section = "neutron"
	n.readAuth(r, section)
	r.text(&n.RegionName, section, "region_name")
	r.choice(&n.EndpointType, section, "endpoint_type", "public", "internal", "admin")
	r.list(&n.ValidInterfaces, section, "valid_interfaces")
	r.text(&n.CAFile, section, "cafile")
	r.text(&n.CertFile, section, "certfile")
	r.text(&n.KeyFile, section, "keyfile")
	r.boolean(&n.Insecure, section, "insecure")
	r.seconds(&n.Timeout, section, "timeout")
}

// readAuth reads the options of keystoneauth's plugins, by their current and former
// names.
func (n *Neutron) readAuth(r *reader, section string) {
	r.text(&section, section, "auth_section")
	r.link(&n.AuthURL, section, "auth_url")
	r.text(&n.Username, section, "username", "user_name", "user-name")
	r.text(&n.UserID, section, "user_id")
	r.secret(&n.Password, section, "password")
	r.text(&n.UserDomainName, section, "user_domain_name")
	r.text(&n.UserDomainID, section, "user_domain_id")
	r.text(&n.ProjectName, section, "project_name", "tenant_name", "tenant-name")
	r.text(&n.ProjectID, section, "project_id", "tenant_id", "tenant-id")
	r.text(&n.ProjectDomainName, section, "project_domain_name")
	r.text(&n.ProjectDomainID, section, "project_domain_id")
	r.text(&n.DefaultDomainName, section, "default_domain_name")
	r.text(&n.DefaultDomainID, section, "default_domain_id")
	r.text(&n.ApplicationCredentialID, section, "application_credential_id")
	r.text(&n.ApplicationCredentialName, section, "application_credential_name")
	r.secret(&n.ApplicationCredentialSecret, section, "application_credential_secret")
}
