package profiles

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/file"
	httpkind "github.com/vitals-health/vitals/collectors/http"
	"github.com/vitals-health/vitals/collectors/kinds"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/openstack"
	"github.com/vitals-health/vitals/internal/config"
	"github.com/vitals-health/vitals/internal/profiles/kuryrconf"
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
func adjustKuryrController(o *Options, from *config.Sources, c *config.Config) []error {
	errs := o.setVariables(c, componentsVariable(), kubeconfigVariable(), originalVariable(":8083"))
	if o.KuryrConf == "" {
		return errs
	}
	conf, mistakes := o.loadKuryrConf(from)
	if len(mistakes) > 0 {
		return append(errs, mistakes...)
	}
	o.setKuryrPort(c, fmt.Sprintf(":%d", conf.Health.Port))
	for i := range c.Collectors {
		useKuryrTimeout(&c.Collectors[i], conf.Neutron.Timeout)
		for _, text := range useKuryrConf(&c.Collectors[i].Kinds, conf) {
			errs = append(errs, fmt.Errorf("%s: %s", o.KuryrConf, text))
		}
	}
	if conf.Kubernetes.ControllerHA {
		c.Collectors = append(c.Collectors, elector(conf.Kubernetes.ControllerHAElectorPort))
	}
	if conf.Kubernetes.VIFPoolDriver != "noop" {
		c.RuleFiles = append(c.RuleFiles, config.BuiltinPrefix+"kuryr-controller-pools")
		pools := kinds.Config{Name: "pools", Kinds: kinds.Kinds{File: &file.Config{Path: poolsMarker}}}
		pools.SetDefaults()
		c.Collectors = append(c.Collectors, pools)
	}
	return errs
}

// loadKuryrConf reads kuryr.conf. Its api_root is then set.
func (o *Options) loadKuryrConf(from *config.Sources) (*kuryrconf.Config, []error) {
	data, err := from.Regular(o.KuryrConf)
	if err != nil {
		return nil, []error{fmt.Errorf("%s: %w", o.KuryrConf, err)}
	}
	conf, mistakes := kuryrconf.Parse(o.KuryrConf, string(data))
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	root, err := conf.Kubernetes.API(os.LookupEnv)
	if err != nil {
		return nil, []error{fmt.Errorf("%s: [kubernetes] api_root is not set: %w", o.KuryrConf, err)}
	}
	conf.Kubernetes.APIRoot = &root
	return conf, nil
}

// useKuryrConf configures a collector from kuryr.conf, and returns the errors in the
// values.
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

// useKuryrTimeout gives a collection from OpenStack as long as the controller gives one
// request, and at most its interval. Less than the default is not used: a collection has
// several requests.
func useKuryrTimeout(c *kinds.Config, timeout time.Duration) {
	if c.Keystone != nil || c.Neutron != nil {
		c.Timeout = max(c.Timeout, min(model.Duration(timeout), c.Interval))
	}
}

// elector returns the collector of the controller's role. The leader elector returns the
// name of the leader, which is the host name that the containers of its pod share
// (kuryr_kubernetes/utils.py). A standby is not a failure: the name is only observed.
func elector(port int) kinds.Config {
	own, _ := os.Hostname() // without a name, no replica leads
	k := &httpkind.Config{}
	k.SetDefaults()
	k.URL = fmt.Sprintf("http://localhost:%d", port)
	k.Expect = &httpkind.Expect{JSON: map[string]any{"name": own}, Observe: true}
	c := kinds.Config{Name: "elector", Kinds: kinds.Kinds{HTTP: k}}
	c.SetDefaults()
	return c
}

// takeOver changes a kind's configuration with values of a section of kuryr.conf, and
// returns the resulting errors. With errors it restores the configuration, because they
// would be reported for the profile as well.
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

// useKuryrKubernetes applies the controller's connection to the Kubernetes API, and the
// custom resources that its handlers need.
func useKuryrKubernetes(k *kubernetes.Config, conf kuryrconf.Kubernetes) {
	useKuryrHandlers(k, conf.EnabledHandlers)
	useKuryrAPI(k, conf)
}

// useKuryrAPI applies the address and the credentials of the Kubernetes API. Without an
// address, which is in a pod only, the collector reports that this is no pod.
func useKuryrAPI(k *kubernetes.Config, conf kuryrconf.Kubernetes) {
	if k.Kubeconfig != "" || *conf.APIRoot == "" {
		return // --set kubeconfig replaces them
	}
	k.Server = *conf.APIRoot
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

// useKuryrNeutron applies the credentials of the section [neutron].
func useKuryrNeutron(a *openstack.Auth, conf kuryrconf.Neutron) {
	if conf.AuthURL == "" {
		return // no credentials there: the environment may have them
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

// domain returns the name or the identifier of a domain, or the default domain. Both may
// be set. needed is false where an identifier makes the domain unnecessary.
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
