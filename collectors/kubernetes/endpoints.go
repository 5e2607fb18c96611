package kubernetes

import (
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
)

// role is a resource that has endpoints.
type role struct {
	// resource is the target of the watch, as in Config.Watch.
	resource string
	object   func(data []byte) (object, error)
	page     func(data []byte) (page, error)
}

// roles returns the roles by their names.
func roles() map[string]role {
	return map[string]role{
		"endpointslices": {"discovery.k8s.io/endpointslices", parseObject[endpointSlice], parsePage[endpointSlice]},
		"endpoints":      {"endpoints", parseObject[endpoints], parsePage[endpoints]},
		"pods":           {"pods", parseObject[pod], parsePage[pod]},
	}
}

// object is an object that has endpoints.
type object interface {
	// key returns the namespace and the name.
	key() (namespace, name string)
	// endpoints returns the endpoints that the discovery selects, and the number of those that
	// lack the port.
	endpoints(d *Discovery) (found []endpoint, lacking int)
}

// endpoint is one address of a workload.
type endpoint struct {
	// name is that of the pod, or the address where there is none.
	name string
	addr netip.Addr
	// host is the name of a host where addr is not valid.
	host string
	port uint16
}

// address returns HOST:PORT, with brackets around an IPv6 address.
func (e endpoint) address() string {
	host := e.host
	if e.addr.IsValid() {
		host = e.addr.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(e.port)))
}

// page is one page of a list.
type page struct {
	// position is the resourceVersion of the list, and next the token of the next page.
	position, next string
	// remaining is the number of objects on the next pages; the API server may omit it.
	remaining int
	objects   []object
}

// parseObject parses an object.
func parseObject[T object](data []byte) (object, error) {
	var o T
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, malformed(err)
	}
	return o, nil
}

// parsePage parses a page of a list.
func parsePage[T object](data []byte) (page, error) {
	var list struct {
		Metadata struct {
			ResourceVersion    string
			Continue           string
			RemainingItemCount int
		}
		Items []T
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return page{}, malformed(err)
	}
	if list.Metadata.ResourceVersion == "" {
		return page{}, malformed(errors.New("list without a resourceVersion"))
	}
	p := page{position: list.Metadata.ResourceVersion, next: list.Metadata.Continue, remaining: list.Metadata.RemainingItemCount}
	for _, o := range list.Items {
		p.objects = append(p.objects, o)
	}
	return p, nil
}

// meta is the used part of the metadata of an object.
type meta struct {
	Metadata struct {
		Namespace, Name   string
		DeletionTimestamp string
	}
}

func (m meta) key() (namespace, name string) { return m.Metadata.Namespace, m.Metadata.Name }

// port is a port of a pod or of endpoints. Each has one of the numbers.
type port struct {
	Name                string
	Port, ContainerPort int
}

func (p port) number() int { return max(p.Port, p.ContainerPort) }

// port returns the number of the configured port, and zero if there is none. A number need not be
// in the list.
func (d *Discovery) port(ports []port) uint16 {
	if n, err := strconv.Atoi(d.Port); err == nil {
		return uint16(n) // Problems has checked it
	}
	var numbers []int
	for _, p := range ports {
		if n := p.number(); (d.Port == "" || p.Name == d.Port) && n >= 1 && n <= 65535 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if len(numbers) == 0 || d.Port == "" && len(numbers) > 1 {
		return 0
	}
	return uint16(numbers[0])
}

// parseAddr parses an address that the discovery selects.
func (d *Discovery) parseAddr(text string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" {
		return netip.Addr{}, false
	}
	addr = addr.Unmap()
	return addr, d.IPFamily == "" || addr.Is4() == (d.IPFamily == familyIPv4)
}

// podName returns the name of a pod's target. Pods of all namespaces have the namespace before it.
func (d *Discovery) podName(namespace, pod string) string {
	if d.Namespace == "" {
		return namespace + "." + pod
	}
	return pod
}

// addressName returns the name of a target without a pod. An IPv6 address is in full, with '-' for
// ':'.
func addressName(e endpoint) string {
	if !e.addr.IsValid() {
		return e.host
	}
	if e.addr.Is4() {
		return e.addr.String()
	}
	name := []byte(e.addr.StringExpanded())
	for i, c := range name {
		if c == ':' {
			name[i] = '-'
		}
	}
	return string(name)
}

// validName reports whether a name has only what Kubernetes allows in names.
func validName(name string) bool { return len(name) <= nameLimit && subdomain.MatchString(name) }

// nameLimit is the length of a namespace, a dot and the name of a pod.
const nameLimit = 63 + 1 + 253
