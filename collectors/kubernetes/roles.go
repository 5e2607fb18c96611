package kubernetes

import "slices"

// pod is the used part of a Pod.
// Source: kubernetes.io/docs/reference/kubernetes-api, Pod v1.
type pod struct {
	meta
	Spec struct {
		Containers     []container
		InitContainers []container
	}
	Status struct {
		Phase, PodIP string
		PodIPs       []struct{ IP string }
		Conditions   []struct{ Type, Status string }
	}
}

type container struct {
	Ports []port
	// RestartPolicy is Always for a sidecar among the init containers.
	RestartPolicy string
}

// endpoints implements object: at most one, unless the pod ends, has ended or has no address.
func (p pod) endpoints(d *Discovery) (found []endpoint, lacking int) {
	ready := false
	for _, c := range p.Status.Conditions {
		ready = ready || c.Type == "Ready" && c.Status == "True"
	}
	ended := p.Metadata.DeletionTimestamp != "" || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed"
	if ended || d.ReadyOnly && !ready {
		return nil, 0
	}
	addresses := []string{p.Status.PodIP}
	for _, ip := range p.Status.PodIPs {
		addresses = append(addresses, ip.IP)
	}
	for _, text := range addresses {
		addr, ok := d.parseAddr(text)
		if !ok {
			continue
		}
		e := endpoint{name: d.podName(p.key()), addr: addr}
		return e.add(nil, 0, d.port(p.ports()), validName(e.name))
	}
	return nil, 0
}

// ports returns the ports of the containers that run as long as the pod.
func (p pod) ports() []port {
	var all []port
	for _, c := range p.Spec.Containers {
		all = append(all, c.Ports...)
	}
	for _, c := range p.Spec.InitContainers {
		if c.RestartPolicy == "Always" {
			all = append(all, c.Ports...)
		}
	}
	return all
}

// reference is the object behind an endpoint.
type reference struct{ Kind, Name, Namespace string }

// endpointSlice is the used part of an EndpointSlice.
// Source: kubernetes.io/docs/reference/kubernetes-api, EndpointSlice v1.
type endpointSlice struct {
	meta
	AddressType string
	Ports       []port
	Endpoints   []struct {
		Addresses  []string
		Conditions struct {
			// Ready that is absent means true.
			Ready       *bool
			Terminating bool
		}
		TargetRef reference
	}
}

// endpoints implements object.
func (s endpointSlice) endpoints(d *Discovery) (found []endpoint, lacking int) {
	port := d.port(s.Ports)
	for _, e := range s.Endpoints {
		notReady := e.Conditions.Ready != nil && !*e.Conditions.Ready
		// The addresses of one endpoint are interchangeable.
		if e.Conditions.Terminating || d.ReadyOnly && notReady || len(e.Addresses) == 0 {
			continue
		}
		made, ok := d.endpoint(e.Addresses[0], s.AddressType == "FQDN", e.TargetRef, s.Metadata.Namespace)
		found, lacking = made.add(found, lacking, port, ok)
	}
	return found, lacking
}

// endpoints is the used part of an Endpoints object.
// Source: kubernetes.io/docs/reference/kubernetes-api, Endpoints v1.
type endpoints struct {
	meta
	Subsets []struct {
		Addresses, NotReadyAddresses []struct {
			IP        string
			TargetRef reference
		}
		Ports []port
	}
}

// endpoints implements object.
func (o endpoints) endpoints(d *Discovery) (found []endpoint, lacking int) {
	for _, s := range o.Subsets {
		port, addresses := d.port(s.Ports), s.Addresses
		if !d.ReadyOnly {
			addresses = slices.Concat(addresses, s.NotReadyAddresses)
		}
		for _, a := range addresses {
			made, ok := d.endpoint(a.IP, false, a.TargetRef, o.Metadata.Namespace)
			found, lacking = made.add(found, lacking, port, ok)
		}
	}
	return found, lacking
}

// endpoint returns the endpoint with an address, or false if the discovery does not select it.
func (d *Discovery) endpoint(address string, fqdn bool, of reference, namespace string) (endpoint, bool) {
	var e endpoint
	ok := false
	if fqdn {
		e.host, ok = address, len(address) <= 253 && subdomain.MatchString(address) && d.IPFamily == ""
	} else {
		e.addr, ok = d.parseAddr(address)
	}
	if !ok {
		return endpoint{}, false
	}
	e.name = addressName(e)
	if of.Kind == "Pod" && of.Name != "" {
		e.name = d.podName(namespace, of.Name)
	}
	return e, validName(e.name)
}

// add appends the endpoint with a port, or counts it as lacking the port, if ok.
func (e endpoint) add(found []endpoint, lacking int, port uint16, ok bool) ([]endpoint, int) {
	e.port = port
	switch {
	case !ok:
		return found, lacking
	case port == 0:
		return found, lacking + 1
	}
	return append(found, e), lacking
}
