package kubernetes

import (
	"context"
	"net/http"

	"github.com/vitals-health/vitals/internal/budget"
)

// Connection sends single requests to an API server. It is safe for concurrent use.
type Connection struct{ client *client }

// Connect returns a connection with the address and the credentials of the configuration. It sends
// nothing. hide receives the secrets, and bodies bounds the responses, as those of collectors.Env
// do.
func (c *Config) Connect(hide func(...string), bodies *budget.Bodies) (*Connection, error) {
	config, err := c.restConfig(hide)
	if err != nil {
		return nil, err
	}
	made, err := newClient(config, bodies)
	if err != nil {
		return nil, err
	}
	return &Connection{made}, nil
}

// Get requests an object, and parses its JSON. parse must not keep it. remote.ReasonOf returns the
// reason of an error.
func (c *Connection) Get(ctx context.Context, path string, parse func(object []byte) error) error {
	_, err := c.client.do(ctx, request{path: path, accept: anyJSON, limit: objectLimit, parse: parse})
	return c.after(err)
}

// Create posts an object in JSON to a collection. remote.ReasonOf returns the reason of an error.
func (c *Connection) Create(ctx context.Context, path string, object []byte) error {
	_, err := c.client.do(ctx, request{method: http.MethodPost, path: path, accept: anyJSON, body: object})
	return c.after(err)
}

// Patch sends a strategic merge patch of an object. remote.ReasonOf returns the reason of an error.
// Source: kubernetes.io/docs/reference/using-api/api-concepts, "Patch".
func (c *Connection) Patch(ctx context.Context, path string, patch []byte) error {
	_, err := c.client.do(ctx, request{
		method: http.MethodPatch, path: path, accept: metadata, body: patch, limit: objectLimit,
		contentType: "application/strategic-merge-patch+json",
	})
	return c.after(err)
}

// after closes the connections after an error, because the next attempt may succeed on a new one.
func (c *Connection) after(err error) error {
	if err != nil {
		c.Close()
	}
	return err
}

// Close closes the idle connections.
func (c *Connection) Close() { c.client.closeIdle() }

// IsStatus reports whether err is the API server's response with this status.
func IsStatus(err error, status int) bool { return hasStatus(err, status) }
