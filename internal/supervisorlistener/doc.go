// Package supervisorlistener is an event listener of supervisord: it reports heartbeats of
// programs to the daemon and acts when the state alive fails.
package supervisorlistener
