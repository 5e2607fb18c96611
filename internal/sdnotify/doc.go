// Package sdnotify reports the state of the process to the service manager, as
// sd_notify(3) describes.
package sdnotify
