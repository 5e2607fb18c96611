package remote

import (
	"net/url"
	"strconv"
)

// InvalidPort reports whether a URL has a port that is not a valid TCP port.
func InvalidPort(u *url.URL) bool { return u.Port() != "" && !ValidPort(u.Port()) }

// ValidPort reports whether text is a TCP port number.
func ValidPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n < 1<<16
}
