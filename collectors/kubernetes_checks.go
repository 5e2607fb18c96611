package collectors

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// ready asks whether the API server is ready. /healthz is asked only where
// /readyz does not exist, which is before Kubernetes 1.16.
// Source: kubernetes.io/docs/reference/using-api/health-checks.
func (c *kubeClient) ready(ctx context.Context) (kubeAnswer, error) {
	answer, err := c.ask(ctx, kubeRequest{path: "/readyz", accept: "*/*"})
	if answer.status != http.StatusNotFound {
		return answer, kubeAsked("get /readyz", err)
	}
	answer, err = c.ask(ctx, kubeRequest{path: "/healthz", accept: "*/*"})
	return answer, kubeAsked("get /healthz", err)
}

// kubeAsked says in an error what was asked; nil stays nil.
func kubeAsked(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// kubeReviewSpec is the question of a SelfSubjectAccessReview.
type kubeReviewSpec struct {
	Resource    *kubeReviewResource `json:"resourceAttributes,omitempty"`
	NonResource *kubeReviewPath     `json:"nonResourceAttributes,omitempty"`
}

type kubeReviewResource struct {
	Namespace string `json:"namespace,omitempty"`
	Verb      string `json:"verb"`
	Group     string `json:"group,omitempty"`
	Resource  string `json:"resource"`
}

type kubeReviewPath struct {
	Path string `json:"path"`
	Verb string `json:"verb"`
}

// kubeReviewBody is the request that asks whether the account may do something.
// Without access, it asks something whose answer does not matter: that there is an
// answer shows that the credentials are accepted.
func kubeReviewBody(access *KubernetesAccess) []byte {
	spec := kubeReviewSpec{NonResource: &kubeReviewPath{Path: "/readyz", Verb: "get"}}
	if access != nil {
		resource, _ := parseKubeResource(access.Resource)
		spec = kubeReviewSpec{Resource: &kubeReviewResource{
			Namespace: access.Namespace, Verb: access.Verb, Group: resource.group, Resource: resource.name,
		}}
	}
	body, _ := json.Marshal(struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Spec       kubeReviewSpec `json:"spec"`
	}{"authorization.k8s.io/v1", "SelfSubjectAccessReview", spec}) // strings only: cannot fail
	return body
}

// review asks a question that was made with kubeReviewBody. Every authenticated
// account may ask it (cluster role system:basic-user).
// Source: kubernetes.io/docs/reference/kubernetes-api, SelfSubjectAccessReview v1.
func (c *kubeClient) review(ctx context.Context, question []byte) (bool, error) {
	answer, err := c.ask(ctx, kubeRequest{
		path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", accept: kubeAnyJSON, body: question,
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
		return false, kubeMalformed(err)
	}
	if review.Kind != "SelfSubjectAccessReview" || review.Status == nil {
		return false, kubeMalformed(fmt.Errorf("kind %.40q without a status", review.Kind))
	}
	return review.Status.Allowed, nil
}

// kubeDefinition is what matters of a custom resource definition, or of its
// metadata alone.
type kubeDefinition struct {
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
func parseKubeDefinition(data []byte) (kubeDefinition, error) {
	var definition kubeDefinition
	if err := json.Unmarshal(data, &definition); err != nil {
		return definition, kubeMalformed(err)
	}
	if definition.Kind != "CustomResourceDefinition" && definition.Kind != "PartialObjectMetadata" {
		return definition, kubeMalformed(fmt.Errorf("kind %.40q", definition.Kind))
	}
	return definition, nil
}

// established says whether the API server serves the resource. A definition that
// exists and is not established answers 404 to the workload, as a missing one does.
func (d kubeDefinition) established() bool {
	for _, condition := range d.Status.Conditions {
		if condition.Type == "Established" {
			return condition.Status == "True"
		}
	}
	return false
}

// kubeCRD follows one custom resource definition from round to round.
type kubeCRD struct {
	name string
	// version is the resourceVersion at which present was read.
	version string
	present bool
}

// check says whether the definition is there and established. It asks for the
// metadata, and for the whole object, which can be large, only after a change.
func (d *kubeCRD) check(ctx context.Context, c *kubeClient) (bool, error) {
	request := kubeRequest{
		path:   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + d.name,
		accept: kubeMetadata, limit: kubeObjectLimit,
	}
	definition, err := d.get(ctx, c, request)
	if err == nil && definition.Kind == "PartialObjectMetadata" {
		if v := definition.Metadata.ResourceVersion; v != "" && v == d.version {
			return d.present, nil
		}
		request.accept = kubeAnyJSON
		definition, err = d.get(ctx, c, request)
	}
	if kubeFailedWith(err, http.StatusNotFound) {
		d.version = ""
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d.version, d.present = definition.Metadata.ResourceVersion, definition.established()
	return d.present, nil
}

func (d *kubeCRD) get(ctx context.Context, c *kubeClient, request kubeRequest) (kubeDefinition, error) {
	answer, err := c.ask(ctx, request)
	if err != nil {
		return kubeDefinition{}, err
	}
	return parseKubeDefinition(answer.body)
}
