package remote

import (
	"net/url"
	"strconv"
)

// NoPort says whether a URL has a port that there is not.
func NoPort(u *url.URL) bool { return u.Port() != "" && !ValidPort(u.Port()) }

// ValidPort says whether text is the number of a TCP port.
func ValidPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n < 1<<16
}
