package collectors

import (
	"net/url"
	"strconv"
)

// noPort says whether a URL has a port that there is not.
func noPort(u *url.URL) bool { return u.Port() != "" && !validPort(u.Port()) }

// validPort says whether text is the number of a TCP port.
func validPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n < 1<<16
}
