package targets

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
)

// maxName is the limit of collectors.NameProblem in bytes.
const maxName = 63

// notInName matches what a name cannot have.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9._-]+`)

// Name returns the name of a target without one: the prefix, such as the collector's name, and the
// address without its scheme and query, with '-' in place of other characters than letters, digits,
// '.', '_' and '-'. A name that is too long ends in a hash of the address in place of its rest.
func Name(prefix, address string) string {
	plain, _, _ := strings.Cut(address, "?")
	plain, _, _ = strings.Cut(plain, "#")
	if _, rest, ok := strings.Cut(plain, "://"); ok {
		plain = rest
	}
	plain = strings.TrimPrefix(plain, "unix:")
	name := strings.Trim(prefix+"-"+strings.Trim(notInName.ReplaceAllString(plain, "-"), "-._"), "-._")
	if len(name) <= maxName {
		return name
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(plain)) // a hash returns no error
	suffix := fmt.Sprintf("-%08x", sum.Sum32())
	return strings.TrimRight(name[:maxName-len(suffix)], "-._") + suffix
}
