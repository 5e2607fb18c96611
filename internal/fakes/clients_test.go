package fakes_test

import (
	"net"
	"net/http"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/config"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/quotas"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vitals-health/vitals/internal/fakes"
)

// The client libraries of Vitals must work with the fakes.

func TestGophercloud(t *testing.T) {
	l := start(t, fakes.Options{})
	ctx := t.Context()
	provider, err := config.NewProviderClient(ctx, gophercloud.AuthOptions{
		IdentityEndpoint: l.KeystoneURL(), Username: l.Username(), Password: l.Password(),
		TenantName: l.Project(), DomainName: l.Domain(),
	}, config.WithHTTPClient(http.Client{Transport: l.client.Transport, Timeout: patience}))
	if err != nil {
		t.Fatal(err)
	}
	network, err := openstack.NewNetworkV2(provider, gophercloud.EndpointOpts{Region: l.Region()})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := networks.List(network, networks.ListOpts{Limit: 1}).AllPages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := networks.ExtractNetworks(pages); err != nil || len(list) != 2 {
		t.Errorf("networks over all pages = %d, %v, want 2", len(list), err)
	}
	quota, err := quotas.GetDetail(ctx, network, l.ProjectID()).Extract()
	if err != nil {
		t.Fatal(err)
	}
	if quota.Port.Limit != 100 || quota.Port.Used != 5 || quota.SecurityGroupRule.Limit != -1 {
		t.Errorf("quota = %+v, want 5 of 100 ports and unlimited rules", quota)
	}
	l.set("keystone", "wrong-password")
	if _, err := networks.List(network, nil).AllPages(ctx); !gophercloud.ResponseCodeIs(err, http.StatusUnauthorized) {
		t.Errorf("networks after the password has changed: %v, want 401", err)
	}
}

func TestClientGo(t *testing.T) {
	l := start(t, fakes.Options{EventInterval: lively})
	rest, err := clientcmd.RESTConfigFromKubeConfig(l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	// The connections of the client's own transport would outlive the test.
	rest.Dial = (&net.Dialer{Timeout: patience}).DialContext
	httpClient, err := restclient.HTTPClientFor(rest)
	if err != nil {
		t.Fatal(err)
	}
	defer httpClient.CloseIdleConnections()
	objects, err := dynamic.NewForConfigAndClient(rest, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	names, err := metadata.NewForConfigAndClient(rest, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	reviews := objects.Resource(schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"})
	review, err := reviews.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{"verb": "list", "resource": "pods"}},
	}}, meta.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if allowed, _, err := unstructured.NestedBool(review.Object, "status", "allowed"); !allowed || err != nil {
		t.Errorf("access review = %v, %v, want allowed", review.Object, err)
	}
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if crd, err := names.Resource(crds).Get(t.Context(), "kuryrports.openstack.org", meta.GetOptions{}); err != nil || crd.UID == "" {
		t.Errorf("definition = %v, %v, want one with an identity", crd, err)
	}
	if _, err := names.Resource(crds).Get(t.Context(), "x.openstack.org", meta.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("definition that is absent: %v, want not found", err)
	}
	pods := names.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	list, err := pods.List(t.Context(), meta.ListOptions{Limit: 1})
	if err != nil || len(list.Items) != 1 || list.Continue == "" {
		t.Fatalf("pods = %v, %v, want one and more to come", list, err)
	}
	changes, err := pods.Watch(t.Context(), meta.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Stop()
	if e := <-changes.ResultChan(); e.Type != watch.Modified && e.Type != watch.Added && e.Type != watch.Deleted {
		t.Errorf("first change = %s %v, want a change of a pod", e.Type, e.Object)
	}
	l.set("kubernetes", "deny-access")
	if _, err := pods.List(t.Context(), meta.ListOptions{Limit: 1}); !apierrors.IsForbidden(err) {
		t.Errorf("list under deny-access: %v, want forbidden", err)
	}
	l.set("kubernetes", "401")
	if _, err := pods.List(t.Context(), meta.ListOptions{Limit: 1}); !apierrors.IsUnauthorized(err) {
		t.Errorf("list with a bad token: %v, want unauthorized", err)
	}
}
