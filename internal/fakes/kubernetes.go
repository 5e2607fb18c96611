package fakes

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// kubernetes imitates the Kubernetes API: health endpoints, version, discovery,
// get, list and watch, access reviews and definitions of custom resources. Its objects
// are synthetic and read-only; selectors are ignored.
//
// Facts: https://kubernetes.io/docs/reference/using-api/api-concepts/.
type kubernetes struct {
	service   *service
	token     string
	bookmarks time.Duration
	cluster   *cluster
}

func newKubernetes(s *service, token string, bookmarks time.Duration) *kubernetes {
	k := &kubernetes{service: s, token: token, bookmarks: bookmarks, cluster: newCluster(time.Now().UTC().Truncate(time.Second))}
	s.deny = k.deny
	s.answer = k.routes()
	return k
}

func (k *kubernetes) routes() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { writeText(w, "ok") })
	}
	mux.HandleFunc("GET /version", k.version)
	mux.HandleFunc("GET /api", k.coreVersions)
	mux.HandleFunc("GET /apis", k.groups)
	mux.HandleFunc("GET /apis/{group}", k.group)
	mux.HandleFunc("GET /api/{version}", k.resources)
	mux.HandleFunc("GET /apis/{group}/{version}", k.resources)
	for _, root := range []string{"/api/{version}", "/apis/{group}/{version}"} {
		mux.HandleFunc("GET "+root+"/{resource}", k.list)
		mux.HandleFunc("GET "+root+"/{resource}/{name}", k.get)
		mux.HandleFunc("GET "+root+"/namespaces/{namespace}/{resource}", k.list)
		mux.HandleFunc("GET "+root+"/namespaces/{namespace}/{resource}/{name}", k.get)
	}
	mux.HandleFunc("POST "+accessPath, k.review)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { noSuchPath(w) })
	return k.authenticated(mux)
}

// authenticated serves requests with the token, and those without credentials to the
// public paths, like an API server with anonymous access to its health endpoints only.
func (k *kubernetes) authenticated(next http.Handler) http.Handler {
	public := map[string]bool{"/healthz": true, "/livez": true, "/readyz": true, "/version": true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache, private")
		header := r.Header.Get("Authorization")
		token, _ := strings.CutPrefix(header, "Bearer ")
		right := subtle.ConstantTimeCompare([]byte(token), []byte(k.token)) == 1
		if !right && (header != "" || !public[r.URL.Path]) {
			k.deny(w, r, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serves reports whether a resource exists under the current fault.
func (k *kubernetes) serves(r resource) bool {
	fault, _ := k.service.state()
	return fault != faultRemoveCRD || r.group != kuryrGroup
}

// find returns the resource of a request. If it does not exist or is forbidden, find
// answers with 404 or 403 and returns false.
func (k *kubernetes) find(w http.ResponseWriter, r *http.Request, verb string) (resource, bool) {
	col, ok := k.cluster.collections[pathOf(r.PathValue("group"), r.PathValue("version"), r.PathValue("resource"))]
	if !ok || !k.serves(col.resource) {
		noSuchPath(w)
		return resource{}, false
	}
	if fault, _ := k.service.state(); fault == faultDenyAccess {
		k.forbid(w, verb, col.resource)
		return resource{}, false
	}
	return col.resource, true
}

func (k *kubernetes) get(w http.ResponseWriter, r *http.Request) {
	res, ok := k.find(w, r, "get")
	if !ok {
		return
	}
	objects, _ := k.objects(res, r)
	for _, o := range objects {
		if o.Metadata.Name == r.PathValue("name") {
			writeJSON(w, http.StatusOK, shape(r, o))
			return
		}
	}
	notFound(w, res, r.PathValue("name"))
}

// objects returns the objects of a resource in the request's namespace, and their
// version.
func (k *kubernetes) objects(res resource, r *http.Request) ([]object, int64) {
	all, version := k.cluster.list(res)
	if fault, _ := k.service.state(); fault == faultRemoveCRD && res.group == crdGroup {
		return nil, version
	}
	namespace := r.PathValue("namespace")
	if namespace == "" || namespace == res.namespace {
		return all, version
	}
	return nil, version
}

// review answers a SelfSubjectAccessReview: everything is allowed, or nothing.
func (k *kubernetes) review(w http.ResponseWriter, r *http.Request) {
	var given struct {
		Kind string          `json:"kind"`
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.NewDecoder(r.Body).Decode(&given); err != nil || given.Kind != "SelfSubjectAccessReview" || given.Spec == nil {
		writeStatus(w, http.StatusBadRequest, "BadRequest", "the body is no SelfSubjectAccessReview in JSON", nil)
		return
	}
	status := map[string]any{"allowed": true, "reason": `RBAC: allowed by ClusterRoleBinding "kuryr-controller"`}
	if fault, _ := k.service.state(); fault == faultDenyAccess {
		status = map[string]any{"allowed": false}
	}
	writeJSON(w, http.StatusCreated, map[string]any{
		"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
		"metadata": metadata{}, "spec": given.Spec, "status": status,
	})
}

func (k *kubernetes) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{
		"major": "1", "minor": "36", "gitVersion": "v1.36.3", "gitTreeState": "clean",
		"goVersion": "go1.26.0", "compiler": "gc", "platform": "linux/amd64",
	})
}
