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

// The timeoutSeconds that a watch asks for: at least the first, and a random part
// up to the second above it, so that watches do not all end together.
const (
	watchSeconds = 240
	watchSpread  = 60
)

// open finds out where to start and opens the stream of events.
func (w *watch) open(ctx context.Context) (io.ReadCloser, error) {
	path, err := w.path(ctx)
	if err != nil {
		return nil, asked("discover the version of "+w.target.group, err)
	}
	if w.position == "" {
		if w.position, err = w.list(ctx, path); err != nil {
			return nil, asked("list", err)
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
		body, _ := io.ReadAll(io.LimitReader(res.Body, bodyLimit)) // only makes the error clearer
		return nil, statusError(res.StatusCode, body)
	}
	return res.Body, nil
}

// path returns where the resource is served. The version of a group is the one
// that the API server prefers, and is asked for once.
func (w *watch) path(ctx context.Context) (string, error) {
	if w.target.group == "" {
		return "/api/v1/" + w.target.name, nil
	}
	prefix := "/apis/" + w.target.group
	if w.groupVersion == "" {
		answer, err := w.client.ask(ctx, request{path: prefix, accept: anyJSON})
		if err != nil {
			return "", err
		}
		if w.groupVersion, err = parseKubeGroup(answer.body); err != nil {
			return "", err
		}
	}
	return prefix + "/" + w.groupVersion + "/" + w.target.name, nil
}

// parseKubeGroup reads the preferred version of an APIGroup.
func parseKubeGroup(data []byte) (string, error) {
	var group struct{ PreferredVersion struct{ Version string } }
	if err := json.Unmarshal(data, &group); err != nil {
		return "", malformed(err)
	}
	if !label.MatchString(group.PreferredVersion.Version) {
		return "", malformed(errors.New("API group without a preferred version"))
	}
	return group.PreferredVersion.Version, nil
}

// list returns the position at which a watch has to start to miss nothing. One
// object is asked for, so that the cost does not grow with the cluster.
func (w *watch) list(ctx context.Context, path string) (string, error) {
	answer, err := w.client.ask(ctx, request{
		path: path, query: url.Values{"limit": {"1"}}, accept: metaList, limit: objectLimit,
	})
	if err != nil {
		return "", err
	}
	return parseKubePosition(answer.body)
}

// parseKubePosition reads the resourceVersion of a list.
func parseKubePosition(data []byte) (string, error) {
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
