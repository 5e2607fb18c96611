//go:build e2e

package e2e_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// wallClock is the wall clock of one process, which a test steps. The clock of the host and the
// program stay unchanged: in the memory of the process, the function of the vDSO that reads
// clocks gets another body. It adds an offset to CLOCK_REALTIME, and leaves other clocks alone,
// as clock_settime(2) does. A static Go program reads every time through that function.
type wallClock struct {
	memory *os.File
	// offset is the address of the number of seconds that are added.
	offset int64
}

// clockCode is the body, for amd64. The eight bytes behind it are the offset in seconds.
var clockCode = []byte{
	0xb8, 0xe4, 0x00, 0x00, 0x00, // mov eax, 228 (clock_gettime)
	0x0f, 0x05, // syscall
	0x85, 0xff, // test edi, edi (CLOCK_REALTIME is 0)
	0x75, 0x0a, // jne to ret
	0x48, 0x8b, 0x0d, 0x06, 0x00, 0x00, 0x00, // mov rcx, [rip+6]: the offset
	0x48, 0x01, 0x0e, // add [rsi], rcx
	0xc3,       // ret
	0x90, 0x90, // so that the offset is aligned
}

// startWithClock starts a program with a wall clock that can be stepped. It fails where the
// processor or the kernel does not allow that.
func startWithClock(cmd *exec.Cmd) (*wallClock, error) {
	if runtime.GOARCH != "amd64" {
		return nil, errors.New("a clock that steps needs amd64")
	}
	runtime.LockOSThread() // a tracer is a thread
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	clock, err := stopped(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, err
	}
	return clock, nil
}

// stopped replaces the clock of a process that has not executed anything yet, and lets it go.
func stopped(pid int) (*wallClock, error) {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || !status.Stopped() {
		return nil, fmt.Errorf("the program does not stop for its tracer: %v, status %#x", err, status)
	}
	clock, err := replaceClock(pid)
	if err != nil {
		return nil, err
	}
	return clock, syscall.PtraceDetach(pid)
}

// replaceClock puts the new body into the zeros behind the vDSO, and a jump to it where the
// old one begins.
func replaceClock(pid int) (*wallClock, error) {
	begin, end, err := vdso(pid)
	if err != nil {
		return nil, err
	}
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	image := make([]byte, end-begin)
	if _, err := memory.ReadAt(image, begin); err != nil {
		return nil, err
	}
	function, err := clockFunction(image)
	if err != nil {
		return nil, err
	}
	body := int64(len(bytes.TrimRight(image, "\x00"))+64) &^ 15
	if body+int64(len(clockCode)+8) > int64(len(image)) {
		return nil, errors.New("the vDSO has no room")
	}
	const jump = 5 // bytes of a jump with its distance
	code := binary.LittleEndian.AppendUint32([]byte{0xe9}, uint32(body-function-jump))
	for at, data := range map[int64][]byte{body: clockCode, function: code} {
		if _, err := memory.WriteAt(data, begin+at); err != nil {
			return nil, err
		}
	}
	return &wallClock{memory, begin + body + int64(len(clockCode))}, nil
}

// vdso returns where the vDSO begins and ends.
func vdso(pid int) (begin, end int64, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "[vdso]") {
			_, err := fmt.Sscanf(line, "%x-%x", &begin, &end)
			return begin, end, err
		}
	}
	return 0, 0, errors.New("the process has no vDSO")
}

// clockFunction returns where the function begins that reads clocks.
func clockFunction(image []byte) (int64, error) {
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return 0, err
	}
	for _, s := range symbols {
		if s.Name == "__vdso_clock_gettime" {
			return int64(s.Value), nil
		}
	}
	return 0, errors.New("the vDSO has no __vdso_clock_gettime")
}

// set has the clock differ from that of the host by an offset, in whole seconds.
func (c *wallClock) set(offset time.Duration) error {
	_, err := c.memory.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(int64(offset/time.Second))), c.offset)
	return err
}
