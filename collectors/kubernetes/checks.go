package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// ready asks whether the API server is ready. /healthz is asked only where
// /readyz does not exist, which is before Kubernetes 1.16.
// Source: kubernetes.io/docs/reference/using-api/health-checks.
func (c *client) ready(ctx context.Context) (answer, error) {
	answer, err := c.ask(ctx, request{path: "/readyz", accept: "*/*"})
	if answer.status != http.StatusNotFound {
		return answer, asked("get /readyz", err)
	}
	answer, err = c.ask(ctx, request{path: "/healthz", accept: "*/*"})
	return answer, asked("get /healthz", err)
}

// asked says in an error what was asked; nil stays nil.
func asked(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// reviewSpec is the question of a SelfSubjectAccessReview.
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

// reviewBody is the request that asks whether the account may do something.
// Without access, it asks something whose answer does not matter: that there is an
// answer shows that the credentials are accepted.
func reviewBody(access *Access) []byte {
	spec := reviewSpec{NonResource: &reviewPath{Path: "/readyz", Verb: "get"}}
	if access != nil {
		resource, _ := parseKubeResource(access.Resource)
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

// review asks a question that was made with reviewBody. Every authenticated
// account may ask it (cluster role system:basic-user).
// Source: kubernetes.io/docs/reference/kubernetes-api, SelfSubjectAccessReview v1.
func (c *client) review(ctx context.Context, question []byte) (bool, error) {
	answer, err := c.ask(ctx, request{
		path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", accept: anyJSON, body: question,
	})
	if err != nil {
		return false, err
	}
	return parseKubeReview(answer.body)
}

// parseKubeReview reads the answer to an access review.
func parseKubeReview(data []byte) (bool, error) {
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

// definition is what matters of a custom resource definition, or of its
// metadata alone.
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

// parseKubeDefinition reads a custom resource definition in either form.
func parseKubeDefinition(data []byte) (definition, error) {
	var definition definition
	if err := json.Unmarshal(data, &definition); err != nil {
		return definition, malformed(err)
	}
	if definition.Kind != "CustomResourceDefinition" && definition.Kind != "PartialObjectMetadata" {
		return definition, malformed(fmt.Errorf("kind %.40q", definition.Kind))
	}
	return definition, nil
}

// established says whether the API server serves the resource. A definition that
// exists and is not established answers 404 to the workload, as a missing one does.
func (d definition) established() bool {
	for _, condition := range d.Status.Conditions {
		if condition.Type == "Established" {
			return condition.Status == "True"
		}
	}
	return false
}

// crd follows one custom resource definition from round to round.
type crd struct {
	name string
	// version is the resourceVersion at which present was read.
	version string
	present bool
}

// check says whether the definition is there and established. It asks for the
// metadata, and for the whole object, which can be large, only after a change.
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
	if failedWith(err, http.StatusNotFound) {
		d.version = ""
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d.version, d.present = definition.Metadata.ResourceVersion, definition.established()
	return d.present, nil
}

func (d *crd) get(ctx context.Context, c *client, request request) (definition, error) {
	answer, err := c.ask(ctx, request)
	if err != nil {
		return definition{}, err
	}
	return parseKubeDefinition(answer.body)
}
