package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
)

// The timeoutSeconds of a watch: watchSeconds and a random part of at most watchSpread, so that
// watches do not end at the same time.
const (
	watchSeconds = 240
	watchSpread  = 60
)

// open finds the start position and opens the stream of events.
func (w *watch) open(ctx context.Context) (io.ReadCloser, error) {
	path, err := w.path(ctx)
	if err != nil {
		return nil, withOperation("discover the version of "+w.target.group, err)
	}
	if w.position == "" {
		if w.position, err = w.list(ctx, path); err != nil {
			return nil, withOperation("list", w.lacking("list", err))
		}
	}
	query := url.Values{
		"watch":               {"1"},
		"allowWatchBookmarks": {"true"},
		"resourceVersion":     {w.position},
		"timeoutSeconds":      {strconv.Itoa(watchSeconds + rand.IntN(watchSpread+1))},
	}
	accept := metadata
	if w.objects != nil {
		accept = anyJSON
		maps.Copy(query, w.objects.selection())
	}
	res, err := w.client.open(ctx, request{path: path, accept: accept, query: query})
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(res.Body, errorLimit)) // an incomplete body only shortens the error
		return nil, w.lacking("watch", errorOfResponse(res.StatusCode, body))
	}
	return res.Body, nil
}

// lacking adds the missing right to the error of a request that is forbidden.
func (w *watch) lacking(verb string, err error) error {
	where := "in all namespaces"
	if w.namespace != "" {
		where = "in namespace " + w.namespace
	}
	return lackingRight(verb, w.resource, where, err)
}

// path returns the path of the resource, in the preferred version of its group. The version is
// requested once.
func (w *watch) path(ctx context.Context) (string, error) {
	resource := w.target.name
	if w.namespace != "" {
		resource = "namespaces/" + w.namespace + "/" + resource
	}
	if w.target.group == "" {
		return "/api/v1/" + resource, nil
	}
	prefix := "/apis/" + w.target.group
	if w.groupVersion == "" {
		parse := func(body []byte) (err error) { w.groupVersion, err = parseGroup(body); return err }
		if _, err := w.client.do(ctx, request{path: prefix, accept: anyJSON, parse: parse}); err != nil {
			return "", err
		}
	}
	return prefix + "/" + w.groupVersion + "/" + resource, nil
}

// parseGroup returns the preferred version of an APIGroup.
func parseGroup(data []byte) (string, error) {
	var group struct{ PreferredVersion struct{ Version string } }
	if err := json.Unmarshal(data, &group); err != nil {
		return "", malformed(err)
	}
	if !label.MatchString(group.PreferredVersion.Version) {
		return "", malformed(errors.New("API group without a preferred version"))
	}
	return group.PreferredVersion.Version, nil
}

// list returns the position at which a watch has to start to receive all events. Without a
// follower, it requests one object, so the cost does not depend on the size of the cluster.
func (w *watch) list(ctx context.Context, path string) (string, error) {
	if w.objects != nil {
		return w.objects.list(ctx, path)
	}
	position := ""
	_, err := w.client.do(ctx, request{
		path: path, query: url.Values{"limit": {"1"}}, accept: metaList, limit: objectLimit,
		parse: func(body []byte) (err error) { position, err = parsePosition(body); return err },
	})
	return position, err
}

// parsePosition returns the resourceVersion of a list.
func parsePosition(data []byte) (string, error) {
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return "", malformed(err)
	}
	if list.Metadata.ResourceVersion == "" {
		return "", malformed(errors.New("list without a resourceVersion"))
	}
	return list.Metadata.ResourceVersion, nil
}
