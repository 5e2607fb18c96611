package fakes

import (
	"net/http"
	"strconv"
	"strings"
)

// list answers with the list of a resource, or starts a watch if the request has watch.
func (k *kubernetes) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	watching, _ := strconv.ParseBool(query.Get("watch"))
	verb := "list"
	if watching {
		verb = "watch"
	}
	res, ok := k.find(w, r, verb)
	if !ok {
		return
	}
	if watching {
		k.watch(w, r, res)
		return
	}
	objects, version := k.objects(res, r)
	start, err := offset(query.Get("continue"), len(objects))
	if err != nil {
		writeStatus(w, http.StatusBadRequest, "BadRequest", "continue key is not valid", nil)
		return
	}
	objects = objects[start:]
	meta := map[string]any{"resourceVersion": strconv.FormatInt(version, 10)}
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && limit < len(objects) {
		meta["continue"] = strconv.Itoa(start + limit)
		meta["remainingItemCount"] = len(objects) - limit
		objects = objects[:limit]
	}
	kind, groupVersion := res.kind+"List", res.groupVersion()
	if metadataOnly(r) {
		kind, groupVersion = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	items := make([]object, 0, len(objects))
	for _, o := range objects {
		items = append(items, shape(r, o))
	}
	writeJSON(w, http.StatusOK, map[string]any{"kind": kind, "apiVersion": groupVersion, "metadata": meta, "items": items})
}

// offset parses the continue key of a list. It is at most the list's length, because the
// list may have become shorter.
func offset(key string, length int) (int, error) {
	if key == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(key, 10, 16)
	return min(int(n), length), err
}

// metadataOnly reports whether a request is for objects without spec and status.
func metadataOnly(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// shape returns the object in the representation that the request accepts.
func shape(r *http.Request, o object) object {
	if metadataOnly(r) {
		return object{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1", Metadata: o.Metadata}
	}
	return o
}
