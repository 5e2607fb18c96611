package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/openstack"
	"github.com/vitals-health/vitals/internal/kuryrconf"
	"github.com/vitals-health/vitals/internal/redact"
)

// poolsMarker is the file that the controller writes once its port pools are
// loaded (kuryr_kubernetes/controller/drivers/vif_pool.py).
const poolsMarker = "/tmp/pools_loaded"

// kuryrGroup is the API group of Kuryr's custom resources.
const kuryrGroup = "openstack.org"

// kuryrResources are the custom resources that each handler of the controller
// reads or writes. The handlers that are not listed need none.
func kuryrResources() map[string]string {
	return map[string]string{
		"vif":                     "kuryrports",
		"kuryrport":               "kuryrports",
		"service":                 "kuryrloadbalancers",
		"endpoints":               "kuryrloadbalancers",
		"kuryrloadbalancer":       "kuryrloadbalancers",
		"namespace":               "kuryrnetworks",
		"kuryrnetwork":            "kuryrnetworks",
		"kuryrnetwork_population": "kuryrnetworks",
		"policy":                  "kuryrnetworkpolicies",
		"kuryrnetworkpolicy":      "kuryrnetworkpolicies",
	}
}

// adjustKuryrController applies kuryr.conf and --set to the controller's profile.
func adjustKuryrController(p *program, from *sources, c *Config) []error {
	errs := p.setVariables(c, componentsVariable(), kubeconfigVariable())
	if p.kuryrConf == "" {
		return errs
	}
	conf, mistakes := p.loadKuryrConf(from)
	if len(mistakes) > 0 {
		return append(errs, mistakes...)
	}
	c.Server.ListenAddress = fmt.Sprintf(":%d", conf.Health.Port)
	for i := range c.Collectors {
		for _, text := range useKuryrConf(&c.Collectors[i].Kinds, conf) {
			errs = append(errs, fmt.Errorf("%s: %s", p.kuryrConf, text))
		}
	}
	if conf.Kubernetes.VIFPoolDriver != "noop" {
		c.RuleFiles = append(c.RuleFiles, builtinPrefix+"kuryr-controller-pools")
		pools := kinds.Config{Name: "pools", Kinds: kinds.Kinds{File: &file.Config{Path: poolsMarker}}}
		pools.SetDefaults()
		c.Collectors = append(c.Collectors, pools)
	}
	return errs
}

// loadKuryrConf reads kuryr.conf.
func (p *program) loadKuryrConf(from *sources) (*kuryrconf.Config, []error) {
	_, _ = from.read(p.kuryrConf) // who parses it reports what is wrong
	return kuryrconf.Load(p.kuryrConf)
}

// useKuryrConf takes over what a collector needs of kuryr.conf, and returns what is
// wrong with it.
func useKuryrConf(k *kinds.Kinds, conf *kuryrconf.Config) []string {
	switch {
	case k.Kubernetes != nil:
		return takeOver("kubernetes", k.Kubernetes, func(k *kubernetes.Config) { useKuryrKubernetes(k, conf.Kubernetes) })
	case k.Keystone != nil:
		return takeOver("neutron", k.Keystone, func(k *openstack.KeystoneConfig) { useKuryrNeutron(&k.Auth, conf.Neutron) })
	case k.Neutron != nil:
		return takeOver("neutron_defaults", k.Neutron, func(k *openstack.NeutronConfig) { k.Project = conf.NeutronDefaults.Project })
	}
	return nil
}

// configOf is the configuration C of a kind.
type configOf[C any] interface {
	*C
	Problems() []collectors.Problem
}

// takeOver changes a kind's configuration by a section of kuryr.conf, and returns what
// is then wrong. It leaves such a configuration as it was, or the profile, which is
// innocent, would be blamed as well.
func takeOver[C any, K configOf[C]](section string, kind K, change func(K)) []string {
	before := *kind
	change(kind)
	var texts []string
	for _, p := range kind.Problems() {
		texts = append(texts, fmt.Sprintf("[%s] %s: %s", section, p.Path, redact.Text(p.Text)))
	}
	if len(texts) > 0 {
		*kind = before
	}
	return texts
}

// useKuryrKubernetes takes over how the controller reaches the Kubernetes API, and
// which custom resources its handlers need.
func useKuryrKubernetes(k *kubernetes.Config, conf kuryrconf.Kubernetes) {
	useKuryrHandlers(k, conf.EnabledHandlers)
	useKuryrAPI(k, conf)
}

// useKuryrAPI takes over how Kuryr reaches the Kubernetes API.
func useKuryrAPI(k *kubernetes.Config, conf kuryrconf.Kubernetes) {
	if k.Kubeconfig != "" {
		return // --set kubeconfig says how
	}
	k.Server = conf.APIRoot
	k.TokenFile = conf.TokenFile
	k.CAFile = conf.SSLCACrtFile
	if conf.TokenFile == "" {
		k.CertFile, k.KeyFile = conf.SSLClientCrtFile, conf.SSLClientKeyFile
	}
	k.InsecureSkipVerify = !conf.SSLVerifyServerCrt
	if k.InsecureSkipVerify || !strings.HasPrefix(k.Server, "https:") {
		k.CAFile = ""
	}
}

// useKuryrHandlers replaces the custom resources of the profile by those of the
// enabled handlers: their definitions, and the rights on their objects.
func useKuryrHandlers(k *kubernetes.Config, handlers []string) {
	k.CRDs = nil
	needed := func(resource string) bool { return slices.Contains(k.CRDs, resource+"."+kuryrGroup) }
	var lists []kubernetes.Access
	for _, handler := range handlers {
		resource, ok := kuryrResources()[handler]
		if !ok || needed(resource) {
			continue
		}
		k.CRDs = append(k.CRDs, resource+"."+kuryrGroup)
		lists = append(lists, kubernetes.Access{Verb: "list", Resource: kuryrGroup + "/" + resource})
	}
	k.Access = slices.DeleteFunc(slices.Clone(k.Access), func(a kubernetes.Access) bool {
		resource, custom := strings.CutPrefix(a.Resource, kuryrGroup+"/")
		return custom && (a.Verb == "list" || !needed(resource))
	})
	k.Access = append(k.Access, lists...)
}

// useKuryrNeutron takes over the credentials of the section [neutron].
func useKuryrNeutron(a *openstack.Auth, conf kuryrconf.Neutron) {
	if conf.AuthURL == "" {
		return // nothing is configured there: the environment may say it
	}
	a.AuthURL, a.Region = conf.AuthURL, conf.RegionName
	a.CAFile, a.CertFile, a.KeyFile, a.Insecure = conf.CAFile, conf.CertFile, conf.KeyFile, conf.Insecure
	a.Interface = strings.TrimSuffix(conf.EndpointType, "URL")
	if len(conf.ValidInterfaces) > 0 {
		a.Interface = conf.ValidInterfaces[0]
	}
	if conf.ApplicationCredentialID != "" || conf.ApplicationCredentialName != "" {
		a.ApplicationCredentialID, a.ApplicationCredentialName = conf.ApplicationCredentialID, conf.ApplicationCredentialName
		a.ApplicationCredentialSecret = collectors.Secret(conf.ApplicationCredentialSecret)
		if conf.ApplicationCredentialID != "" {
			return
		}
	}
	a.Username, a.UserID = conf.Username, conf.UserID
	a.UserDomainName, a.UserDomainID = domain(conf.UserID == "", conf.UserDomainName, conf.UserDomainID, conf)
	a.Password = collectors.Secret(conf.Password)
	a.ProjectName, a.ProjectID = conf.ProjectName, conf.ProjectID
	a.ProjectDomainName, a.ProjectDomainID = domain(conf.ProjectID == "", conf.ProjectDomainName, conf.ProjectDomainID, conf)
}

// domain chooses among a domain's name and its identifier, which may be given
// both, and the default domain; needed is false where an identifier says it all.
func domain(needed bool, name, id string, conf kuryrconf.Neutron) (string, string) {
	switch {
	case !needed:
		return "", ""
	case id != "":
		return "", id
	case name != "":
		return name, ""
	case conf.DefaultDomainID != "":
		return "", conf.DefaultDomainID
	}
	return conf.DefaultDomainName, ""
}
