//go:build e2e

package e2e_test

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// image writes an initial file system: an archive of cpio in the format newc, see
// Documentation/driver-api/early-userspace/buffer-format.rst of the kernel.
type image struct {
	t     *testing.T
	out   *bufio.Writer
	inode int
	made  map[string]bool
}

// writeImage packs the programs, the modules of the kernel, and the data that the tests
// read, which is where it is in the source, as seen from the tests.
func writeImage(t *testing.T, to, kernel, initProgram, testProgram string) {
	t.Helper()
	file, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	i := &image{t: t, out: bufio.NewWriter(file), made: map[string]bool{}}
	// Without these two, process 1 has nowhere to write to.
	i.device("dev/console", 5, 1)
	i.device("dev/null", 1, 3)
	i.program("init", initProgram)
	i.program("e2e.test", testProgram)
	i.program("bin/vitals", os.Getenv("VITALS_BIN"))
	for _, module := range []string{"net/llc/llc", "net/802/stp", "net/bridge/bridge", "drivers/net/dummy", "drivers/net/veth", "drivers/block/brd"} {
		i.copy("modules/"+path.Base(module)+".ko", match(t, filepath.Join(kernel, "lib/modules/*/kernel", module+".ko")))
	}
	for _, kind := range []string{"capability", "cgroup", "netlink", "process"} {
		i.tree("vitals/collectors/"+kind+"/testdata", filepath.Join("../collectors", kind, "testdata"))
	}
	i.tree("vitals/rules/builtin", "../rules/builtin")
	i.directory("tmp")
	i.directory("vitals/e2e")
	i.entry("TRAILER!!!", 0, 0, 0, nil)
	if err := i.out.Flush(); err != nil {
		t.Fatal(err)
	}
}

// entry writes one file with the directories above it.
func (i *image) entry(name string, mode uint32, major, minor int, data []byte) {
	if dir := path.Dir(name); dir != "." && !i.made[dir] {
		i.directory(dir)
	}
	i.inode++
	const header = "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00"
	i.write(fmt.Appendf(nil, header, i.inode, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(name)+1, 0, name))
	i.write(data)
}

// write pads to four bytes. An error is that of the flush at the end.
func (i *image) write(data []byte) {
	n, _ := i.out.Write(data)
	padding := make([]byte, (4-n%4)%4)
	_, _ = i.out.Write(padding)
}

func (i *image) directory(name string) {
	if !i.made[name] {
		i.made[name] = true
		i.entry(name, syscall.S_IFDIR|0o755, 0, 0, nil)
	}
}

func (i *image) device(name string, major, minor int) {
	i.entry(name, syscall.S_IFCHR|0o666, major, minor, nil)
}

func (i *image) copy(name, from string) {
	info, err := os.Stat(from)
	if err != nil {
		i.t.Fatal(err)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		i.t.Fatal(err)
	}
	i.entry(name, syscall.S_IFREG|uint32(info.Mode().Perm()), 0, 0, data)
}

// program copies a program, which finds no libraries in the machine.
func (i *image) program(name, from string) {
	file, err := elf.Open(from)
	if err != nil {
		i.t.Fatal(err)
	}
	defer file.Close()
	if file.Section(".interp") != nil {
		i.t.Fatalf("%s is linked dynamically: build it with CGO_ENABLED=0 for the virtual machine", from)
	}
	i.copy(name, from)
}

// tree copies a directory with all that is in it.
func (i *image) tree(name, from string) {
	err := filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		i.copy(name+strings.TrimPrefix(filepath.ToSlash(file), filepath.ToSlash(from)), file)
		return nil
	})
	if err != nil {
		i.t.Fatal(err)
	}
}
