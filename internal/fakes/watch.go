package fakes

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

const (
	// writeTimeout bounds a write to a client that does not read.
	writeTimeout = 5 * time.Second
	// maxWatch is the longest duration of a watch, and that of one without
	// timeoutSeconds: the default of the API server's --min-request-timeout.
	maxWatch = 30 * time.Minute
)

// watch streams the changes of a resource until the client disconnects, the watch times
// out or a fault ends it.
func (k *kubernetes) watch(w http.ResponseWriter, r *http.Request, res resource) {
	s := newStream(w, r, res)
	if !s.open() {
		return
	}
	timeout := time.NewTimer(lifetime(r))
	defer timeout.Stop()
	bookmark := time.NewTicker(k.bookmarks)
	defer bookmark.Stop()
	for {
		fault, switched := k.service.state()
		silent := fault == faultHang || fault == faultFreezeWatch
		if k.endsWatch(fault, res) || !silent && !k.follow(s) {
			return
		}
		news, marks := s.changed, bookmark.C
		if silent {
			news, marks = nil, nil
		}
		select {
		case <-switched:
		case <-news:
		case <-marks:
			if s.bookmarks && !s.bookmark(nil) {
				return
			}
		case <-timeout.C:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// endsWatch reports whether a fault ends the watches of a resource.
func (k *kubernetes) endsWatch(fault string, res resource) bool {
	switch fault {
	case None, faultSlow, faultHang, faultFreezeWatch:
		return false
	case faultRemoveCRD:
		return res.group == kuryrGroup
	}
	return true
}

// follow sends the changes after the stream's version. It returns false at the end of
// the stream.
func (k *kubernetes) follow(s *stream) bool {
	if s.version == 0 {
		return k.begin(s)
	}
	changes, version, changed, ok := k.cluster.since(s.resource, s.version)
	if !ok {
		s.send("ERROR", statusObject(http.StatusGone, "Expired", "too old resource version: "+strconv.FormatInt(s.version, 10), nil))
		return false
	}
	for _, c := range changes {
		if s.selects(c.object) && !s.send(c.kind, shape(s.request, c.object)) {
			return false
		}
	}
	s.version, s.changed = version, changed
	return true
}

// begin sends the existing objects to a watch that starts without a version, and the
// bookmark after them if the client requested a streaming list.
func (k *kubernetes) begin(s *stream) bool {
	objects, version := k.objects(s.resource, s.request)
	for _, o := range objects {
		if !s.send("ADDED", shape(s.request, o)) {
			return false
		}
	}
	s.version = version
	if initial, _ := strconv.ParseBool(s.request.URL.Query().Get("sendInitialEvents")); initial {
		if !s.bookmark(map[string]string{"k8s.io/initial-events-end": "true"}) {
			return false
		}
	}
	return k.follow(s)
}

// stream is one watch.
type stream struct {
	request    *http.Request
	resource   resource
	writer     http.ResponseWriter
	controller *http.ResponseController
	bookmarks  bool

	version int64           // that the client has received; zero for none
	changed <-chan struct{} // closed when there may be more
}

func newStream(w http.ResponseWriter, r *http.Request, res resource) *stream {
	query := r.URL.Query()
	version, _ := strconv.ParseInt(query.Get("resourceVersion"), 10, 64)
	if initial, _ := strconv.ParseBool(query.Get("sendInitialEvents")); initial {
		version = 0
	}
	bookmarks, _ := strconv.ParseBool(query.Get("allowWatchBookmarks"))
	return &stream{
		request: r, resource: res, writer: w, controller: http.NewResponseController(w),
		bookmarks: bookmarks, version: version,
	}
}

// open sends the header, which accepts the watch.
func (s *stream) open() bool {
	s.writer.Header().Set("Content-Type", "application/json")
	s.writer.WriteHeader(http.StatusOK)
	return s.controller.Flush() == nil
}

// selects reports whether the object is in the request's namespace.
func (s *stream) selects(o object) bool {
	namespace := s.request.PathValue("namespace")
	return namespace == "" || namespace == o.Metadata.Namespace
}

func (s *stream) bookmark(annotations map[string]string) bool {
	o := object{
		Kind: s.resource.kind, APIVersion: s.resource.groupVersion(),
		Metadata: metadata{ResourceVersion: strconv.FormatInt(s.version, 10), Annotations: annotations},
	}
	return s.send("BOOKMARK", shape(s.request, o))
}

// send writes an event. It returns false if the client does not receive it.
func (s *stream) send(kind string, o any) bool {
	if err := s.controller.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return false
	}
	event := map[string]any{"type": kind, "object": o}
	if err := json.NewEncoder(s.writer).Encode(event); err != nil {
		return false
	}
	return s.controller.Flush() == nil && s.controller.SetWriteDeadline(time.Time{}) == nil
}

// lifetime is the duration of a watch.
func lifetime(r *http.Request) time.Duration {
	seconds, err := strconv.ParseUint(r.URL.Query().Get("timeoutSeconds"), 10, 16)
	if err != nil || seconds == 0 {
		return maxWatch
	}
	return min(time.Duration(seconds)*time.Second, maxWatch)
}
