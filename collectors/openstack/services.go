package openstack

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"

	"github.com/vitals-health/vitals/collectors/remote"
)

// service describes a type of service: where its API is, and what to request.
type service struct {
	// types are its names in a catalog, by preference: that of the Service Types Authority
	// first (https://service-types.openstack.org), then older ones.
	types []string
	// version is the path of the API, for an endpoint without one. {project} is replaced by
	// the id of the token's project.
	version string
	// check is a small request that needs the token and the database, and key the member of its
	// response; empty for a response without one.
	check, key string
	// document is the path of the document that needs neither; empty for that of the versions.
	document string
	// processes is the path of the list of the service's processes; empty without one.
	processes string
	// binaries are the processes in that list.
	binaries []string
	// header and microversion select the version of the API that the requests need.
	header, microversion string
}

// services returns the services with a known check. Every check has one small response: gophercloud's
// pagers would follow the links to all pages.
func services() []service {
	return []service{
		{types: []string{"load-balancer"}, version: "v2.0/", check: "lbaas/loadbalancers?limit=1&fields=id", key: "loadbalancers"},
		{types: []string{"compute"}, version: "v2.1/", check: "servers?limit=1", key: "servers",
			processes: "os-services", binaries: []string{"nova-compute", "nova-conductor", "nova-scheduler"}},
		{types: []string{"block-storage", "volumev3", "block-store", "volume", "volumev2"}, version: "v3/{project}/", check: "volumes?limit=1", key: "volumes",
			processes: "os-services", binaries: []string{"cinder-backup", "cinder-scheduler", "cinder-volume"}},
		{types: []string{"image"}, version: "v2/", check: "images?limit=1", key: "images"},
		{types: []string{"orchestration"}, version: "v1/{project}/", check: "stacks?limit=1", key: "stacks",
			processes: "services", binaries: []string{"heat-engine"}},
		{types: []string{"baremetal", "bare-metal"}, version: "v1/", check: "nodes?limit=1&fields=uuid", key: "nodes",
			processes: "conductors", binaries: []string{"ironic-conductor"}, header: "X-Openstack-Ironic-Api-Version", microversion: "1.49"},
		{types: []string{"placement"}, check: "usages?project_id={project}", key: "usages", header: "Openstack-Api-Version", microversion: "placement 1.9"},
		{types: []string{"object-store"}, version: "v1/AUTH_{project}/", check: "?limit=1&format=json", document: "info"},
		{types: []string{"key-manager"}, version: "v1/", check: "secrets?limit=1", key: "secrets"},
		{types: []string{"dns"}, version: "v2/", check: "zones?limit=1", key: "zones",
			processes: "service_statuses?limit=1000", binaries: []string{"agent", "api", "central", "mdns", "producer", "sink", "worker"}},
		{types: []string{"shared-file-system", "sharev2", "share"}, version: "v2/", check: "shares?limit=1", key: "shares",
			processes: "services", binaries: []string{"manila-data", "manila-scheduler", "manila-share"}, header: "X-Openstack-Manila-Api-Version", microversion: "2.7"},
		{types: []string{"network"}, version: "v2.0/", check: "networks?limit=1&fields=id", key: "networks"},
	}
}

// serviceOf returns the description of a type of service. An older name selects itself only. A type
// that is not in the list has no check.
func serviceOf(name string) service {
	for _, s := range services() {
		if i := slices.Index(s.types, name); i > 0 {
			s.types = []string{name}
			return s
		} else if i == 0 {
			return s
		}
	}
	return service{types: []string{name}}
}

// find returns the endpoint of the first of the types that the catalog has. It does not use
// gophercloud's aliases, which have no order, so a catalog with volumev2 and volumev3 could lead to
// either.
func (s *service) find(ctx context.Context, t *token, region string, side gophercloud.Availability) (endpoint string, err error) {
	for _, name := range s.types {
		endpoint, err = t.endpointOf(ctx, gophercloud.EndpointOpts{Type: name, Region: region, Availability: side})
		if reason := reasonOf(err); reason != remote.ReasonMissingEndpoint {
			break
		}
	}
	return endpoint, err
}

// endpointOf looks up a service in the catalog. An empty region or side means that of the login.
func (t *token) endpointOf(ctx context.Context, options gophercloud.EndpointOpts) (string, error) {
	if options.Region == "" {
		options.Region = t.login.region
	}
	if options.Availability == "" {
		options.Availability = t.login.side
	}
	address, err := openstack.V3Endpoint(ctx, t.provider(), t.catalog, options)
	if err == nil && address == "/" { // an endpoint without an address
		err = &gophercloud.ErrEndpointNotFound{}
	}
	return address, err
}

var errNoURL = errors.New("the endpoint in the catalog is not a URL of http or https")

// addresses returns the URLs of the API and of the document that needs no token. An endpoint may
// have the version of the API, with or without a project after it.
func (s *service) addresses(endpoint, project string) (api, document string, err error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", errNoURL
	}
	u.RawQuery, u.Fragment = "", ""
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	root := *u
	segments := strings.Split(u.Path, "/")
	if i := slices.IndexFunc(segments, apiVersion.MatchString); i >= 0 {
		root.Path = strings.Join(segments[:i], "/") + "/"
	} else {
		u.Path += strings.ReplaceAll(s.version, "{project}", project)
	}
	root.Path += s.document
	return u.String(), root.String(), nil
}

// requestPath is a path below the URL of an API, with or without a query.
var requestPath = regexp.MustCompile(`^[A-Za-z0-9_~%:@!$&'()*+,;=-][A-Za-z0-9._~%:@!$&'()*+,;=/?-]{0,255}$`)
