// Package kinds lists the kinds of collectors, one line each.
package kinds

import (
	"reflect"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/capability"
	"github.com/vitals-health/vitals/collectors/certificate"
	"github.com/vitals-health/vitals/collectors/cgroup"
	"github.com/vitals-health/vitals/collectors/components"
	"github.com/vitals-health/vitals/collectors/disk"
	"github.com/vitals-health/vitals/collectors/dns"
	"github.com/vitals-health/vitals/collectors/file"
	"github.com/vitals-health/vitals/collectors/grpc"
	httpkind "github.com/vitals-health/vitals/collectors/http"
	"github.com/vitals-health/vitals/collectors/icmp"
	"github.com/vitals-health/vitals/collectors/kubernetes"
	"github.com/vitals-health/vitals/collectors/memcached"
	"github.com/vitals-health/vitals/collectors/netlink"
	"github.com/vitals-health/vitals/collectors/ntp"
	"github.com/vitals-health/vitals/collectors/openstack"
	"github.com/vitals-health/vitals/collectors/postgres"
	"github.com/vitals-health/vitals/collectors/process"
	"github.com/vitals-health/vitals/collectors/prometheus"
	"github.com/vitals-health/vitals/collectors/redis"
	"github.com/vitals-health/vitals/collectors/scrape"
	"github.com/vitals-health/vitals/collectors/script"
	"github.com/vitals-health/vitals/collectors/supervisor"
	"github.com/vitals-health/vitals/collectors/systemd"
	"github.com/vitals-health/vitals/collectors/tcp"
	"github.com/vitals-health/vitals/collectors/textfile"
)

// Config is one entry of the configuration's list of collectors: the keys that all kinds share,
// and exactly one kind.
type Config struct {
	// Name is the value of the label dependency or component. It is unique.
	Name string `yaml:"name"`
	// Interval is the time between two collections; default 10 s.
	Interval model.Duration `yaml:"interval,omitempty"`
	// Timeout limits one collection. It is at most the interval; default 5 s, or the
	// interval if that is shorter.
	Timeout model.Duration `yaml:"timeout,omitempty"`

	Kinds `yaml:",inline"`
}

// Kinds lists the kinds. The type of every field is a pointer that implements
// collectors.Kind, and its YAML key is the kind's name. An entry sets one field. To add a kind,
// write its folder and add its field here.
type Kinds struct {
	Kubernetes  *kubernetes.Config        `yaml:"kubernetes,omitempty"`
	Keystone    *openstack.KeystoneConfig `yaml:"keystone,omitempty"`
	Neutron     *openstack.NeutronConfig  `yaml:"neutron,omitempty"`
	OpenStack   *openstack.ServiceConfig  `yaml:"openstack,omitempty"`
	HTTP        *httpkind.Config          `yaml:"http,omitempty"`
	TCP         *tcp.Config               `yaml:"tcp,omitempty"`
	Postgres    *postgres.Config          `yaml:"postgres,omitempty"`
	Redis       *redis.Config             `yaml:"redis,omitempty"`
	Memcached   *memcached.Config         `yaml:"memcached,omitempty"`
	DNS         *dns.Config               `yaml:"dns,omitempty"`
	GRPC        *grpc.Config              `yaml:"grpc,omitempty"`
	NTP         *ntp.Config               `yaml:"ntp,omitempty"`
	Prometheus  *prometheus.Config        `yaml:"prometheus,omitempty"`
	ICMP        *icmp.Config              `yaml:"icmp,omitempty"`
	Certificate *certificate.Config       `yaml:"certificate,omitempty"`
	Components  *components.Config        `yaml:"components,omitempty"`
	Scrape      *scrape.Config            `yaml:"scrape,omitempty"`
	Textfile    *textfile.Config          `yaml:"textfile,omitempty"`
	File        *file.Config              `yaml:"file,omitempty"`
	Disk        *disk.Config              `yaml:"disk,omitempty"`
	Systemd     *systemd.Config           `yaml:"systemd,omitempty"`
	Netlink     *netlink.Config           `yaml:"netlink,omitempty"`
	Cgroup      *cgroup.Config            `yaml:"cgroup,omitempty"`
	Process     *process.Config           `yaml:"process,omitempty"`
	Capability  *capability.Config        `yaml:"capability,omitempty"`
	Supervisor  *supervisor.Config        `yaml:"supervisor,omitempty"`
	Script      *script.Config            `yaml:"script,omitempty"`
}

// SetDefaults sets the defaults of an entry, before it is decoded.
func (c *Config) SetDefaults() {
	c.Interval = model.Duration(10 * time.Second)
	c.Timeout = model.Duration(5 * time.Second)
}

// Common returns the keys that all kinds share.
func (c Config) Common() (name string, interval, timeout model.Duration) {
	return c.Name, c.Interval, c.Timeout
}

// WithTimeout returns the entry with another timeout.
func (c Config) WithTimeout(d model.Duration) Config {
	c.Timeout = d
	return c
}

// Kind returns the kind of the entry and its key. It returns nil unless exactly one field is
// set.
func (k Kinds) Kind() (string, collectors.Kind) {
	set := k.set()
	if len(set) != 1 {
		return "", nil
	}
	kind, _ := reflect.ValueOf(k).FieldByIndex(set[0].Index).Interface().(collectors.Kind)
	return key(set[0]), kind
}

// Names returns the keys of all kinds, in the order of the documentation.
func Names() []string {
	var names []string
	for f := range reflect.TypeFor[Kinds]().Fields() {
		names = append(names, key(f))
	}
	return names
}

// New returns a configuration with defaults only, of the kind with this key, for Metrics without
// a name. It returns nil for an unknown key.
func New(name string) collectors.Kind {
	for f := range reflect.TypeFor[Kinds]().Fields() {
		if key(f) != name {
			continue
		}
		kind, _ := reflect.New(f.Type.Elem()).Interface().(collectors.Kind)
		if d, ok := kind.(interface{ SetDefaults() }); ok {
			d.SetDefaults()
		}
		return kind
	}
	return nil
}

// set returns the fields that are set.
func (k Kinds) set() []reflect.StructField {
	var set []reflect.StructField
	v := reflect.ValueOf(k)
	for f := range v.Type().Fields() {
		if !v.FieldByIndex(f.Index).IsNil() {
			set = append(set, f)
		}
	}
	return set
}

// key returns the YAML key of a field.
func key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// Problems returns every mistake in the entry, with those of its kind.
func (c Config) Problems() []collectors.Problem {
	var set []string
	for _, f := range c.set() {
		set = append(set, key(f))
	}
	_, kind := c.Kind()
	return collectors.EntryProblems(c.Name, c.Interval, c.Timeout, set, Names(), kind)
}
