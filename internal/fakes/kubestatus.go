package fakes

import (
	"fmt"
	"net/http"
)

// account is the owner of the token.
const account = "system:serviceaccount:kube-system:kuryr-controller"

// deny answers with the API server's Status object for a code.
func (k *kubernetes) deny(w http.ResponseWriter, r *http.Request, code int) {
	switch code {
	case http.StatusUnauthorized:
		writeStatus(w, code, "Unauthorized", "Unauthorized", nil)
	case http.StatusForbidden:
		writeStatus(w, code, "Forbidden", fmt.Sprintf("forbidden: User %q cannot %s path %q", account, verbOf(r), r.URL.Path), map[string]any{})
	case http.StatusServiceUnavailable:
		writeStatus(w, code, "ServiceUnavailable", "the server is currently unable to handle the request", nil)
	case http.StatusInternalServerError:
		writeStatus(w, code, "InternalError", "Internal error occurred: etcdserver: request timed out", map[string]any{
			"causes": []any{map[string]string{"message": "etcdserver: request timed out"}},
		})
	default:
		writeStatus(w, code, "BadRequest", http.StatusText(code), nil)
	}
}

// forbid answers as RBAC does if no role allows the verb.
func (k *kubernetes) forbid(w http.ResponseWriter, verb string, res resource) {
	message := fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q at the cluster scope",
		res.qualified(), account, verb, res.plural, res.group)
	writeStatus(w, http.StatusForbidden, "Forbidden", message, detailsOf(res, ""))
}

func notFound(w http.ResponseWriter, res resource, name string) {
	writeStatus(w, http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", res.qualified(), name), detailsOf(res, name))
}

func noSuchPath(w http.ResponseWriter) {
	writeStatus(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource", map[string]any{})
}

func detailsOf(res resource, name string) map[string]any {
	details := map[string]any{"kind": res.plural}
	if name != "" {
		details["name"] = name
	}
	if res.group != "" {
		details["group"] = res.group
	}
	return details
}

func writeStatus(w http.ResponseWriter, code int, reason, message string, details map[string]any) {
	writeJSON(w, code, statusObject(code, reason, message, details))
}

func statusObject(code int, reason, message string, details map[string]any) map[string]any {
	status := map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": struct{}{},
		"status": "Failure", "reason": reason, "message": message, "code": code,
	}
	if details != nil {
		status["details"] = details
	}
	return status
}

// verbOf is RBAC's verb of a request to a path that is not a resource.
func verbOf(r *http.Request) string {
	if r.Method == http.MethodPost {
		return "post"
	}
	return "get"
}
