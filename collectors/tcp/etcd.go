package tcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// maxEtcdAnswer bounds the body of an answer in bytes.
const maxEtcdAnswer = 64 << 10

// checkEtcd queries the health of a member: there is a leader and no alarm, and the cluster
// confirms a read. Source: etcd/server/etcdserver/api/etcdhttp/health.go
func checkEtcd(ctx context.Context, peer *peer) (string, error) {
	host := peer.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	target := url.URL{Scheme: "http", Host: host, Path: "/health"}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", "vitals")
	req.Close = true
	if err := req.Write(peer.conn); err != nil {
		return "", fmt.Errorf("send GET /health: %w", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(peer.conn), req)
	if err != nil {
		return "", fmt.Errorf("read answer to GET /health: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxEtcdAnswer+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read answer to GET /health: %w", err)
	case len(body) > maxEtcdAnswer:
		return "", collectors.Errorf(remote.ReasonProtocol, "answer to GET /health is larger than %s", collectors.Size(maxEtcdAnswer))
	}
	return "health is true", parseEtcd(resp.StatusCode, body)
}

// parseEtcd checks an answer: health is "true", "false" with a reason since version 3.5,
// or true without quotes from gateways.
func parseEtcd(status int, body []byte) error {
	var answer struct {
		Health any    `json:"health"`
		Reason string `json:"reason"`
	}
	wrong := json.Unmarshal(body, &answer)
	health := fmt.Sprint(answer.Health)
	reason := remote.ReasonOfStatus(status)
	switch {
	case wrong == nil && health == "true" && status == http.StatusOK:
		return nil
	case wrong == nil && health == "false":
		return collectors.Errorf(remote.ReasonServerError, "health is false with status %d, reason %q", status, answer.Reason)
	case reason != "":
		return collectors.Errorf(reason, "answer to GET /health has status %d: %q", status, body)
	}
	return collectors.Errorf(remote.ReasonProtocol, "expected the health of etcd and status 200, got status %d and %q", status, body)
}
