package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// ready requests the readiness of the API server. It requests /healthz only if /readyz does not
// exist, before Kubernetes 1.16.
// Source: kubernetes.io/docs/reference/using-api/health-checks.
func (c *client) ready(ctx context.Context) (response, error) {
	response, err := c.do(ctx, request{path: "/readyz", accept: "*/*"})
	if response.status != http.StatusNotFound {
		return response, withOperation("get /readyz", err)
	}
	response, err = c.do(ctx, request{path: "/healthz", accept: "*/*"})
	return response, withOperation("get /healthz", err)
}

// reviewSpec is the spec of a SelfSubjectAccessReview.
type reviewSpec struct {
	Resource    *reviewResource `json:"resourceAttributes,omitempty"`
	NonResource *reviewPath     `json:"nonResourceAttributes,omitempty"`
}

type reviewResource struct {
	Namespace string `json:"namespace,omitempty"`
	Verb      string `json:"verb"`
	Group     string `json:"group,omitempty"`
	Resource  string `json:"resource"`
}

type reviewPath struct {
	Path string `json:"path"`
	Verb string `json:"verb"`
}

// reviewBody returns the body of an access review. Without access, the review is for a right
// whose result is not used: any result shows that the credentials are accepted.
func reviewBody(access *Access) []byte {
	spec := reviewSpec{NonResource: &reviewPath{Path: "/readyz", Verb: "get"}}
	if access != nil {
		resource, _ := parseResource(access.Resource)
		spec = reviewSpec{Resource: &reviewResource{
			Namespace: access.Namespace, Verb: access.Verb, Group: resource.group, Resource: resource.name,
		}}
	}
	body, _ := json.Marshal(struct {
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Spec       reviewSpec `json:"spec"`
	}{"authorization.k8s.io/v1", "SelfSubjectAccessReview", spec}) // strings only: cannot fail
	return body
}

// review requests an access review with a result of reviewBody. Every authenticated account has
// the right to do so (cluster role system:basic-user).
// Source: kubernetes.io/docs/reference/kubernetes-api, SelfSubjectAccessReview v1.
func (c *client) review(ctx context.Context, body []byte) (bool, error) {
	allowed := false
	_, err := c.do(ctx, request{
		path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", accept: anyJSON, body: body,
		parse: func(body []byte) (err error) { allowed, err = parseReview(body); return err },
	})
	return allowed, err
}

// parseReview reports whether an access review allows the access.
func parseReview(data []byte) (bool, error) {
	var review struct {
		Kind   string
		Status *struct{ Allowed bool }
	}
	if err := json.Unmarshal(data, &review); err != nil {
		return false, malformed(err)
	}
	if review.Kind != "SelfSubjectAccessReview" || review.Status == nil {
		return false, malformed(fmt.Errorf("kind %.40q without a status", review.Kind))
	}
	return review.Status.Allowed, nil
}

// definition is the used part of a custom resource definition, or of its metadata only.
type definition struct {
	Kind     string
	Metadata struct {
		Name            string
		ResourceVersion string
	}
	Status struct {
		Conditions []struct{ Type, Status string }
	}
}

// parseDefinition parses a custom resource definition in either form.
func parseDefinition(data []byte) (definition, error) {
	var definition definition
	if err := json.Unmarshal(data, &definition); err != nil {
		return definition, malformed(err)
	}
	if definition.Kind != "CustomResourceDefinition" && definition.Kind != "PartialObjectMetadata" {
		return definition, malformed(fmt.Errorf("kind %.40q", definition.Kind))
	}
	return definition, nil
}

// established reports whether the API server serves the resource. For a definition that is not
// established, it responds with 404, as for a missing one.
func (d definition) established() bool {
	for _, condition := range d.Status.Conditions {
		if condition.Type == "Established" {
			return condition.Status == "True"
		}
	}
	return false
}

// crd is a custom resource definition with the state of the last check.
type crd struct {
	name string
	// version is the resourceVersion for which present is valid.
	version string
	present bool
}

// check reports whether the definition exists and is established. It gets the metadata, and only
// after a change the whole object, which can be large.
func (d *crd) check(ctx context.Context, c *client) (bool, error) {
	request := request{
		path:   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + d.name,
		accept: metadata, limit: objectLimit,
	}
	definition, err := d.get(ctx, c, request)
	if err == nil && definition.Kind == "PartialObjectMetadata" {
		if v := definition.Metadata.ResourceVersion; v != "" && v == d.version {
			return d.present, nil
		}
		request.accept = anyJSON
		definition, err = d.get(ctx, c, request)
	}
	if hasStatus(err, http.StatusNotFound) {
		d.version = ""
		return false, nil
	}
	if err != nil {
		return false, lackingRight("get", "apiextensions.k8s.io/customresourcedefinitions", d.name, err)
	}
	d.version, d.present = definition.Metadata.ResourceVersion, definition.established()
	return d.present, nil
}

func (d *crd) get(ctx context.Context, c *client, request request) (definition, error) {
	var found definition
	request.parse = func(body []byte) (err error) { found, err = parseDefinition(body); return err }
	_, err := c.do(ctx, request)
	return found, err
}
