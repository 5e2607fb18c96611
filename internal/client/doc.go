// Package client queries a running daemon over HTTP or over its Unix socket.
package client
