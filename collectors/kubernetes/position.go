package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"io"
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
			return nil, withOperation("list", err)
		}
	}
	res, err := w.client.open(ctx, request{path: path, accept: metadata, query: url.Values{
		"watch":               {"1"},
		"allowWatchBookmarks": {"true"},
		"resourceVersion":     {w.position},
		"timeoutSeconds":      {strconv.Itoa(watchSeconds + rand.IntN(watchSpread+1))},
	}})
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(res.Body, bodyLimit)) // an incomplete body only shortens the error
		return nil, errorOfResponse(res.StatusCode, body)
	}
	return res.Body, nil
}

// path returns the path of the resource, in the preferred version of its group. The version is
// requested once.
func (w *watch) path(ctx context.Context) (string, error) {
	if w.target.group == "" {
		return "/api/v1/" + w.target.name, nil
	}
	prefix := "/apis/" + w.target.group
	if w.groupVersion == "" {
		response, err := w.client.do(ctx, request{path: prefix, accept: anyJSON})
		if err != nil {
			return "", err
		}
		if w.groupVersion, err = parseGroup(response.body); err != nil {
			return "", err
		}
	}
	return prefix + "/" + w.groupVersion + "/" + w.target.name, nil
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

// list returns the position at which a watch has to start to receive all events. It requests one
// object, so the cost does not depend on the size of the cluster.
func (w *watch) list(ctx context.Context, path string) (string, error) {
	response, err := w.client.do(ctx, request{
		path: path, query: url.Values{"limit": {"1"}}, accept: metaList, limit: objectLimit,
	})
	if err != nil {
		return "", err
	}
	return parsePosition(response.body)
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
