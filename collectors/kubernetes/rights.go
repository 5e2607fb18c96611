package kubernetes

// Right is a right that an account needs.
type Right struct {
	// Verb is an API verb. Group is empty for the core group. Resource may have a subresource, as
	// in pods/status.
	Verb, Group, Resource string
	// Namespace limits the right to one namespace; empty means all. Name limits it to one object;
	// empty means all.
	Namespace, Name string
}

// KubernetesRights returns the rights that the collector needs, in addition to those that every
// authenticated account has: to read /readyz, to request access reviews and to discover versions.
func (c *Config) KubernetesRights() []Right {
	var rights []Right
	for _, w := range c.watches() {
		rights = append(rights, rightsToWatch(w.resource, w.namespace)...)
	}
	for _, name := range c.CRDs {
		rights = append(rights, Right{Verb: "get", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: name})
	}
	return rights
}

// KubernetesRights returns the rights that the discovery needs, in addition to those that every
// authenticated account has.
func (d *Discovery) KubernetesRights() []Right {
	return rightsToWatch(roles()[d.Role].resource, d.Namespace)
}

func rightsToWatch(watched, namespace string) []Right {
	r, _ := parseResource(watched) // Problems has checked it
	return []Right{
		{Verb: "list", Group: r.group, Resource: r.name, Namespace: namespace},
		{Verb: "watch", Group: r.group, Resource: r.name, Namespace: namespace},
	}
}
