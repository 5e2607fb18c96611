//go:build e2e

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// person is who runs a command, and where.
type person struct {
	// cgroup is below /sys/fs/cgroup, and made where it is missing.
	cgroup string
	// pod hides the cgroups above that one, as in a pod: the process has a cgroup
	// namespace and mounts of its own.
	pod bool
	// host lets a pod have what the host has at /sys/fs/cgroup at /host/sys/fs/cgroup.
	host bool
	// netns is the path of a network namespace.
	netns string
	// hidepid is the option of the own /proc, see proc(5).
	hidepid string
	// readonly makes the root file system read-only.
	readonly bool
	// uid is the user and the group; 0 stays root.
	uid int
	// drop is a capability that the process and its children never have.
	drop uintptr
	// ambient is a capability that a user keeps.
	ambient uintptr
}

// none is no capability.
const none = ^uintptr(0)

// as changes the identity of the process and executes the command.
func as(args []string) error {
	i := slices.Index(args, "--")
	if i < 0 || i == len(args)-1 {
		return errors.New("as: expected words of KEY=VALUE, --, and a command")
	}
	who, err := parsePerson(args[:i])
	if err != nil {
		return err
	}
	for _, become := range []func() error{who.joinCgroup, who.joinNetns, who.seeFiles, who.loseCapability, who.changeUser} {
		if err := become(); err != nil {
			return err
		}
	}
	command := args[i+1:]
	return fmt.Errorf("run %s: %w", command[0], unix.Exec(command[0], command, os.Environ()))
}

func parsePerson(args []string) (person, error) {
	who := person{drop: none, ambient: none}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		var err error
		switch key {
		case "cgroup":
			who.cgroup = value
		case "pod":
			who.pod = true
		case "host":
			who.host = true
		case "netns":
			who.netns = value
		case "hidepid":
			who.hidepid = value
		case "readonly":
			who.readonly = true
		case "uid":
			who.uid, err = strconv.Atoi(value)
		case "drop":
			who.drop, err = capability(value)
		case "ambient":
			who.ambient, err = capability(value)
		default:
			err = errors.New("unknown")
		}
		if err != nil {
			return who, fmt.Errorf("as %s: %w", arg, err)
		}
	}
	return who, nil
}

// capability returns the number of a capability that tests name.
func capability(name string) (uintptr, error) {
	switch name {
	case "NET_ADMIN":
		return unix.CAP_NET_ADMIN, nil
	case "SYS_PTRACE":
		return unix.CAP_SYS_PTRACE, nil
	}
	return none, errors.New("unknown capability")
}

func (p person) joinCgroup() error {
	if p.cgroup == "" {
		return nil
	}
	dir := filepath.Join("/sys/fs/cgroup", p.cgroup)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0)
}

func (p person) joinNetns() error {
	if p.netns == "" {
		return nil
	}
	f, err := os.Open(p.netns)
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("setns", unix.Setns(int(f.Fd()), unix.CLONE_NEWNET))
}

// seeFiles changes mounts, for this process and its children only.
func (p person) seeFiles() error {
	if !p.readonly && !p.pod && p.hidepid == "" {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if p.pod {
		if err := p.enterPod(); err != nil {
			return err
		}
	}
	if p.hidepid != "" {
		if err := unix.Mount("proc", "/proc", "proc", 0, "hidepid="+p.hidepid); err != nil {
			return fmt.Errorf("mount /proc: %w", err)
		}
	}
	if p.readonly {
		if err := unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("make / read-only: %w", err)
		}
	}
	return nil
}

// enterPod makes the cgroup of this process the root of what it sees.
func (p person) enterPod() error {
	if err := p.hideHost("/sys/fs/cgroup"); err != nil {
		return fmt.Errorf("hide /sys/fs/cgroup: %w", err)
	}
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	if err := unix.Mount("cgroup2", "/sys/fs/cgroup", "cgroup2", unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("mount /sys/fs/cgroup: %w", err)
	}
	return nil
}

// hideHost takes a mount of the host away, or moves it.
func (p person) hideHost(mount string) error {
	if !p.host {
		return unix.Unmount(mount, unix.MNT_DETACH)
	}
	if err := os.MkdirAll("/host"+mount, 0o755); err != nil {
		return err
	}
	return unix.Mount(mount, "/host"+mount, "", unix.MS_MOVE, "")
}

// loseCapability takes a capability out of all sets, the bounding set included.
func (p person) loseCapability() error {
	if p.drop == none {
		return nil
	}
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, p.drop, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	return changeSets(func(d *unix.CapUserData) {
		d.Effective &^= 1 << p.drop
		d.Permitted &^= 1 << p.drop
		d.Inheritable &^= 1 << p.drop
	})
}

// changeUser becomes the user, who has no capability but the ambient one.
func (p person) changeUser() error {
	if p.uid == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	if err := errors.Join(unix.Setgroups(nil), unix.Setresgid(p.uid, p.uid, p.uid), unix.Setresuid(p.uid, p.uid, p.uid)); err != nil {
		return fmt.Errorf("become user %d: %w", p.uid, err)
	}
	var keep uint32
	if p.ambient != none {
		keep = 1 << p.ambient
	}
	err := changeSets(func(d *unix.CapUserData) { d.Effective, d.Permitted, d.Inheritable = keep, keep, keep })
	if err == nil && p.ambient != none {
		err = os.NewSyscallError("prctl", unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, p.ambient, 0, 0))
	}
	return err
}

// changeSets changes the capabilities of this thread with numbers below 32, among which
// are all that tests name. A user loses those above with the next program.
func changeSets(change func(*unix.CapUserData)) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return os.NewSyscallError("capget", err)
	}
	change(&sets[0])
	return os.NewSyscallError("capset", unix.Capset(&header, &sets[0]))
}
