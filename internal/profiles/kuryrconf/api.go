package kuryrconf

import (
	"errors"
	"net"
)

// API returns the URL of the Kubernetes API as Kuryr finds it: api_root, else the environment
// variable K8S_API, else https://localhost:6443. An empty value means the cluster of the pod,
// whose address Kubernetes sets in the environment; outside of a pod the result is empty. An
// error is about the environment and does not show the value: it may contain a password.
func (k *Kubernetes) API(environment func(string) (string, bool)) (string, error) {
	root, set := environment("K8S_API")
	switch {
	case k.APIRoot != nil:
		root = *k.APIRoot
	case !set:
		root = "https://localhost:6443"
	}
	if root == "" {
		return inCluster(environment), nil
	}
	if !isURL(root) {
		return "", errors.New("environment variable K8S_API: expected a URL such as https://host:port")
	}
	return root, nil
}

// inCluster returns the URL of the Kubernetes API in a pod, or nothing outside of one.
func inCluster(environment func(string) (string, bool)) string {
	host, _ := environment("KUBERNETES_SERVICE_HOST")
	port, _ := environment("KUBERNETES_SERVICE_PORT_HTTPS")
	if host == "" || port == "" {
		return ""
	}
	return "https://" + net.JoinHostPort(host, port) // with brackets around IPv6
}
