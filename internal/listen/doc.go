// Package listen opens the sockets of the daemon and serves HTTP on them: TCP with TLS and
// authentication, a listener for probes alone, and the Unix socket.
package listen
