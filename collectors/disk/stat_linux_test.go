package disk

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestUsageOf(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given unix.Statfs_t
		want  usage
	}{
		{"fragments smaller than transfers", unix.Statfs_t{Frsize: 512, Bsize: 1 << 20, Blocks: 100, Bfree: 50, Bavail: 40, Files: 7, Ffree: 6}, usage{51200, 25600, 20480, 7, 6, true}},
		{"no fragment size", unix.Statfs_t{Bsize: 4096, Blocks: 2, Bfree: 1, Bavail: 1}, usage{8192, 4096, 4096, 0, 0, true}},
		{"read-only", unix.Statfs_t{Frsize: 1, Flags: unix.ST_RDONLY | unix.ST_NOSUID}, usage{}},
	} {
		if got := usageOf(&tt.given); got != tt.want {
			t.Errorf("%s: usageOf() = %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
